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
export const read = async <Data>(request: Promise<Result<Data>>): Promise<Data> => (await readResponse(request)).data;

/** Like `read`, with the `ETag` of the response. */
export async function readTagged<Data>(request: Promise<Result<Data>>): Promise<Data & { etag: string }> {
  const { data, response } = await readResponse(request);
  return { ...data, etag: response.headers.get('etag') ?? '*' };
}

async function readResponse<Data>(request: Promise<Result<Data>>): Promise<{ data: Data; response: Response }> {
  const { data, error, response } = await request.catch((cause: unknown) => {
    throw new ApiProblem({ status: 0, code: 'unreachable', detail: 'The service does not answer.', cause });
  });
  if (!response.ok) throw toProblem(error, response.status);
  return { data: data as Data, response };
}
