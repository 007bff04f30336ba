import type { ModelRequestRecord } from './model-server.ts';
import { delimitedBlocks } from './scripted-models.ts';

/** Returns a claim that cites the first row of a request, its action if it has one. */
export function claimOn(request: ModelRequestRecord, text = 'It signed in.') {
  const [, rows] = delimitedBlocks(request.turns[0]!.text);
  const [row] = JSON.parse(rows!) as { rowId: string; fields: Record<string, string> }[];
  const cells = Object.entries(row!.fields);
  const [field, value] = cells.find(([name]) => name === 'action') ?? cells[0]!;
  return { text, kind: 'fact', cites: [{ observation: 'rows', rowId: row!.rowId, field, value }] };
}

/** Returns a submission on the entity of a request, with a claim about the action of its first row, which is the headline too. */
export function verdictOn(
  request: ModelRequestRecord,
  {
    claims = [claimOn(request)],
    ...overrides
  }: { claims?: { text: string; [field: string]: unknown }[]; [field: string]: unknown } = {},
) {
  const submission = {
    claims,
    techniques: [],
    nextSteps: ['Ask.'],
    headline: claims[0]?.text ?? 'A sign-in',
    verdict: 'raise',
    severity: 'low',
    confidence: 77,
    ...overrides,
  };
  return { calls: [{ name: 'submit_verdict', input: submission }] };
}
