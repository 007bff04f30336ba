import { inOrg, queryRows, type Db } from '../../../src/platform/db/db.ts';
import type { RawBuilder } from 'kysely';
import type { TestOrg } from '../harness.ts';

type Json = ReturnType<typeof JSON.parse>;

/** Returns a create body with the four required fields and the given additions. */
export const detectionBody = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: 'Console sign-ins from new countries',
  detectionCategory: 'first_occurrence',
  systemPrompt: 'Judge whether the sign-in is the user.',
  detectionQuery: 'select user, country from auth',
  ...more,
});

/** Creates a detection and returns its record. */
export async function postDetection(org: TestOrg, more: Record<string, unknown> = {}): Promise<Json> {
  return callOk(org, 'POST', '/api/detections', detectionBody(more));
}

/** Creates a suggestion and returns its record. */
export async function postSuggestion(org: TestOrg, more: Record<string, unknown> = {}): Promise<Json> {
  return callOk(org, 'POST', '/api/detections/suggestions', detectionBody(more));
}

/** Sends a request and returns the response body. Throws unless the status is 200. */
export async function callOk(
  org: TestOrg,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  body?: unknown,
): Promise<Json> {
  const response = await org.call(method, url, body);
  if (response.status !== 200) throw new Error(`${method} ${url}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}

export const toIds = (records: { id: string }[]): string[] => records.map((record) => record.id);

/** Runs a statement in the organization and returns its rows. */
export const queryOrg = <Row>({ db }: { db: Db }, { id }: TestOrg, statement: RawBuilder<Row>): Promise<Row[]> =>
  inOrg(db, id, (tx) => queryRows(tx, statement));
