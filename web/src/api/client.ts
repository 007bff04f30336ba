import createClient from 'openapi-fetch';
import { basePath } from '../lib/base-path.ts';
import { ApiProblem, toProblem } from './problem.ts';
import type { components, paths } from './schema.d.ts';

/** Tells the server that a request with the session cookie comes from the console's own code and not from another site's form. */
const consoleHeader = { 'x-tocsin-console': '1' };

/** The API as `openapi.json` describes it. Requests carry the session cookie. */
export const api = createClient<paths>({ baseUrl: basePath, headers: consoleHeader, credentials: 'same-origin' });

export type Schemas = components['schemas'];

type Result<Data> = { data?: Data; error?: unknown; response: Response };

/** Returns the body of a successful response. Throws an `ApiProblem` for any other one. */
export async function read<Data>(request: Promise<Result<Data>>): Promise<Data> {
  const { data, error, response } = await request.catch((cause: unknown) => {
    throw new ApiProblem({ status: 0, code: 'unreachable', detail: 'The service does not answer.', cause });
  });
  if (!response.ok) throw toProblem(error, response.status);
  return data as Data;
}
