import { atFileEnd } from '../at-file-end.ts';
import { serveModelStandIn, type ModelBrain, type Protocol, type ModelStandIn } from './model-server.ts';

export type { ModelRequestRecord, ModelBrain } from './model-server.ts';

/** Starts a stand-in for one test file and closes it afterwards. */
export async function startModelStandIn(protocol: Protocol, first?: ModelBrain): Promise<ModelStandIn> {
  const { close, ...standIn } = await serveModelStandIn(protocol, first);
  atFileEnd(close);
  return standIn;
}
