/** Why a pull is not good. The message is safe to show. Any other error is a fault of the service. */
export class BadPull extends Error {}

/** Runs `work` and turns its errors into a `BadPull` with the original error as its cause. */
export async function asBadPull<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new BadPull(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
