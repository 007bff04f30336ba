import {
  serveModelStandIn,
  type ModelReply,
  type ModelRequestRecord,
  type ServedModel,
} from '../test/support/models/model-server.ts';
import { delimitedBlocks } from '../test/support/models/scripted-models.ts';
import type { SoakPlan } from './plan.ts';
import { findVerdictFault } from './scripted-events.ts';

export type SoakModel = ServedModel & { hour: number };

/** Starts an OpenAI-compatible model server. In an outage it alternates between status 503 and a dropped connection. */
export async function startScriptedModel({ outages }: SoakPlan): Promise<SoakModel> {
  const isDown = (hour: number): boolean =>
    outages.some(({ what, from, to }) => what === 'model' && hour >= from && hour < to);
  const served = await serveModelStandIn('openai-chat', (asked, nth) => {
    model.asked.length = 0;
    if (isDown(model.hour)) return nth % 2 === 0 ? { status: 503 } : { cut: 'within' };
    // A request without tools is a health check.
    return asked.tools.length === 0 ? { text: 'ready' } : judge(asked);
  });
  const model: SoakModel = { ...served, hour: 0 };
  return model;
}

function judge(asked: ModelRequestRecord): ModelReply {
  const [facts, rows] = delimitedBlocks(asked.turns[0]!.text);
  const { entity, entityType } = JSON.parse(facts!) as { entity: string; entityType: string };
  const [row] = JSON.parse(rows!) as { rowId: string; fields: Record<string, string> }[];
  const triggered = entity.startsWith('harmful');
  const fault = findVerdictFault(Number(entity.split('-')[1]));
  if (fault === 'refuses') return { refuse: true };
  const isRepair = asked.turns.some(({ role }) => role === 'assistant');
  const misquotes = fault === 'misquotes' || (fault === 'misquotes once' && !isRepair);
  const verdict = {
    entity,
    entityType,
    triggered,
    confidence: 80,
    severity: triggered ? 'medium' : 'none',
    headline: triggered ? 'Something was deleted' : 'Nothing of note',
    summary: 'The entity deleted something.',
    evidence: [{ rowId: row!.rowId, field: 'action', value: misquotes ? 'created' : row!.fields['action'], why: '' }],
    nextStep: 'Ask the owner.',
  };
  return {
    calls: [{ name: 'submit_verdict', input: fault === 'invalid' ? { ...verdict, severity: 'huge' } : verdict }],
  };
}

/** Returns the TOCSIN_MODELS setting for the model. */
export const buildModelSettings = ({ url }: SoakModel): string =>
  JSON.stringify({
    stand_in: { provider: 'openai-compatible', model: 'stand-in', baseUrl: url, apiKey: 'soak-api-key' },
  });
