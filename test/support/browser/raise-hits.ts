import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import { callOk, postDetection } from '../detection/detection-factory.ts';
import type { TestApp, TestOrg } from '../harness.ts';

/** Stores sign-ins of users, and runs a detection that raises a hit for each. Returns the detection's ID. */
export async function raiseHits(
  { deps }: TestApp,
  org: TestOrg,
  users: readonly string[],
  addressOf = (_user: string): string => '203.0.113.7',
): Promise<string> {
  const at = new Date(Date.now() - 3_600_000).toISOString();
  const events = users.map((user, n) => ({
    id: `e-${n}`,
    time: at,
    account: user,
    address: addressOf(user),
    agent: 'curl/8.4',
  }));
  await callOk(org, 'POST', '/api/logs/auth', events);
  const query = "SELECT account, address, agent, 'high' AS severity, _id, _time FROM auth";
  const { id } = await postDetection(org, {
    name: 'Sign-in with a tool',
    detectionCategory: 'custom',
    detectionQuery: query,
    entityField: 'account',
  });
  const from = new Date(Date.now() - 2 * 3_600_000).toISOString();
  await callOk(org, 'POST', `/api/detections/${id}/run`, { from, to: new Date().toISOString() });
  await executeDueRuns(deps, new Date());
  const { hits } = await callOk(org, 'GET', '/api/hits?limit=200');
  if (hits.length < users.length) throw new Error(`Raised ${hits.length} hits.`);
  return id;
}
