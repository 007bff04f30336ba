import { readFileSync } from 'node:fs';
import type { ApiExamples } from '../platform/http/app-type.ts';

/** Returns the examples of the API. `npm run examples` records them. */
export const readApiExamples = (): ApiExamples =>
  JSON.parse(readFileSync(new URL('api-examples.json', import.meta.url), 'utf8')) as ApiExamples;
