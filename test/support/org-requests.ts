import { expect } from 'vitest';
import type { ApiCall } from './api-client.ts';
import { startOpenSearch } from './detection/siem/opensearch-stand-in.ts';
import type { TestOrg } from './harness.ts';
import { readOk } from './walk/api-calls.ts';

/** Returns a function that sends requests as the organization and fails for any status other than 200. */
export const callerOf =
  (org: TestOrg): ApiCall =>
  (...request) =>
    readOk(org.call(...request));

/** Sends events to a dataset of the embedded log store: past events, or with `isHistory: false` events that have just arrived. */
export async function sendEvents(
  org: TestOrg,
  dataset: string,
  events: object[],
  { isHistory = true }: { isHistory?: boolean } = {},
): Promise<void> {
  const lines = events.map((event) => JSON.stringify(event)).join('\n');
  const type = { 'content-type': 'application/x-ndjson' };
  const receipt = await readOk(org.call('POST', `/api/logs/${dataset}?history=${isHistory}`, lines, type));
  expect(receipt.accepted, JSON.stringify(receipt)).toBe(events.length);
}

/** Returns the ID of the organization's built-in agent of a type. */
export async function findAgentId(org: TestOrg, type: string): Promise<string> {
  const { agents } = await readOk(org.call('GET', '/api/agents?limit=200'));
  return agents.find((one: { builtInAgentType: string }) => one.builtInAgentType === type).id;
}

/** Starts an OpenSearch stand-in and connects the organization to it. Returns the server and the connection's ID. */
export async function connectOpenSearch(org: TestOrg, name = 'Logs') {
  const siem = await startOpenSearch();
  const connection = {
    kind: 'opensearch',
    name,
    settings: { url: siem.url },
    credentials: { user: 'soc', password: 'pw' },
  };
  const { id } = await readOk(org.call('POST', '/api/connections', connection));
  return { siem, id: String(id) };
}

/** Returns a model's answer that submits a detection. The default test expects the entity A for one process event. */
export const submitDetection = (
  detectionQuery: string,
  test: { events?: object; expect?: string[] } = {},
): { calls: { name: string; input: object }[] } => ({
  calls: [
    {
      name: 'submit_detection',
      input: {
        steps: ['Look for it.'],
        name: 'Drafted',
        description: 'd',
        technique: 'T1490',
        detectionCategory: 'custom',
        detectionQuery,
        systemPrompt: 'Judge it.',
        tests: [
          {
            name: 'Finds it',
            events: { windows: [{ Hostname: 'A', CommandLine: 'notepad.exe x' }] },
            expect: ['A'],
            ...test,
          },
        ],
      },
    },
  ],
});
