/** Returns a path of the service as a link at its public address, or null if that is not known. */
export const toPublicLink = (publicUrl: string | null, path: string): string | null =>
  publicUrl === null ? null : `${publicUrl}${path}`;
