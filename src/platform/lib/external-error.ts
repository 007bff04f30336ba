/**
 * An error that another system caused: what it sent cannot be read, or it does not answer. The message is safe to show. Any other error is a fault of
 * this service, and nobody else is blamed for it.
 */
export class ExternalError extends Error {}

/** Shown instead of the message of a fault of this service. */
export const internalReason = 'an internal error of the service, which its log explains';

/** Returns the reason that people may read: that of an `ExternalError`, or that the service has a fault. */
export const reasonOf = (error: unknown): string => (error instanceof ExternalError ? error.message : internalReason);

/** Runs `work` on a document of another system. A document that exhausts the stack or the length of a text is one that cannot be read. */
export function withinLimits<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError)
      throw new ExternalError('the document is nested too deep or too large', { cause: error });
    throw error;
  }
}

/**
 * Returns whether an error can only be a mistake of this program, for libraries that throw plain errors when another system fails. Errors of `fetch`
 * are of these types as well, but have a cause.
 */
export const isProgramFault = (error: unknown): boolean =>
  [TypeError, RangeError, ReferenceError, SyntaxError].some((type) => error instanceof type) &&
  (error as Error).cause === undefined;
