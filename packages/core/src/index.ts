export const x: AsyncDisposable | undefined = undefined;
