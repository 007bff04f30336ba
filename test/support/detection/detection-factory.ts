import type { TestOrg } from '../harness.ts';

type Json = ReturnType<typeof JSON.parse>;

/** The four fields that a detection needs, and whatever a test adds. */
export const input = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: 'Console sign-ins from new countries',
  detectionCategory: 'first_occurrence',
  systemPrompt: 'Judge whether the sign-in is the user.',
  detectionQuery: 'select user, country from auth',
  ...more,
});

/** Makes a detection and answers its record. */
export async function made(org: TestOrg, more: Record<string, unknown> = {}): Promise<Json> {
  return asked(org, 'POST', '/api/detections', input(more));
}

export async function suggested(org: TestOrg, more: Record<string, unknown> = {}): Promise<Json> {
  return asked(org, 'POST', '/api/detections/suggestions', input(more));
}

/** A call that must succeed. */
export async function asked(
  org: TestOrg,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  body?: unknown,
): Promise<Json> {
  const answer = await org.call(method, url, body);
  if (answer.status !== 200) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export const idsOf = (records: { id: string }[]): string[] => records.map((record) => record.id);
