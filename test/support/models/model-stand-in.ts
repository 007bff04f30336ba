import { afterAll } from 'vitest';
import { serveStandIn, type Brain, type Protocol, type StandIn } from './model-server.ts';

export type { Asked, Brain } from './model-server.ts';

/** Starts a stand-in for one test file and closes it afterwards. */
export async function startStandIn(protocol: Protocol, first?: Brain): Promise<StandIn> {
  const { close, ...standIn } = await serveStandIn(protocol, first);
  afterAll(close);
  return standIn;
}
