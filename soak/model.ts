import { serveStandIn, type Asked, type Served } from '../test/support/models/model-server.ts';
import { blocksOf } from '../test/support/models/scripted-models.ts';
import type { Plan } from './plan.ts';

export type SoakModel = Served & { hour: number };

/** A model over HTTP in the protocol of OpenAI-compatible servers. In an outage it refuses or breaks off, in turn. */
export async function serveModel({ outages }: Plan): Promise<SoakModel> {
  const isOut = (hour: number): boolean =>
    outages.some(({ what, from, to }) => what === 'model' && hour >= from && hour < to);
  const served = await serveStandIn('openai-chat', (asked, nth) => {
    model.asked.length = 0;
    if (isOut(model.hour)) return nth % 2 === 0 ? { status: 503 } : { cut: 'within' };
    // What asks whether it is well again is no case.
    return asked.tools.length === 0 ? { text: 'ready' } : { calls: [{ name: 'submit_verdict', input: verdictOn(asked) }] }; // prettier-ignore
  });
  const model: SoakModel = { ...served, hour: 0 };
  return model;
}

function verdictOn(asked: Asked): Record<string, unknown> {
  const [facts, rows] = blocksOf(asked.turns[0]!.text);
  const { entity, entityType } = JSON.parse(facts!) as { entity: string; entityType: string };
  const [row] = JSON.parse(rows!) as { rowId: string; fields: Record<string, string> }[];
  const triggered = entity.startsWith('harmful');
  return {
    entity,
    entityType,
    triggered,
    confidence: 80,
    severity: triggered ? 'medium' : 'none',
    headline: triggered ? 'Something was deleted' : 'Nothing of note',
    summary: 'The entity deleted something.',
    evidence: [{ rowId: row!.rowId, field: 'action', value: row!.fields['action'], why: 'the deletion' }],
    nextStep: 'Ask the owner.',
  };
}

/** The setting TOCSIN_MODELS that leads to it. */
export const modelSettings = ({ url }: SoakModel): string =>
  JSON.stringify({
    stand_in: { provider: 'openai-compatible', model: 'stand-in', baseUrl: url, apiKey: 'the-key-of-the-soak' },
  });
