import type { ApiResponse, TestOrg } from '../harness.ts';

/** Returns the body of a response. Throws if its status is not 200. */
export async function readOk(answer: Promise<ApiResponse>): Promise<ApiResponse['body']> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Requests to the API that throw unless the status is 200. */
export type ApiCalls = Record<
  'get' | 'post' | 'put' | 'remove',
  (url: string, body?: unknown, headers?: Record<string, string>) => ReturnType<typeof readOk>
>;

export const callsOf = (org: TestOrg): ApiCalls => ({
  get: (url) => readOk(org.call('GET', url)),
  post: (url, body, headers) => readOk(org.call('POST', url, body, headers)),
  put: (url, body) => readOk(org.call('PUT', url, body)),
  remove: (url) => readOk(org.call('DELETE', url)),
});
