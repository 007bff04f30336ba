import { extname } from 'node:path';

/** Returns the address of the module `name` beside the calling one. Both end in `.ts` in the repository and in `.js` in the published package. */
export const siblingModule = (name: string, { url }: ImportMeta): URL => new URL(`${name}${extname(url)}`, url);
