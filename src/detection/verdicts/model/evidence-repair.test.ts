import { expect, test } from 'vitest';
import {
  failureOf,
  inTurn,
  protocols,
  startJudging,
  submit,
  verdict,
} from '../../../../test/support/detection/judging-task.ts';
import { judgeEntity } from './judge-entity.ts';

const misquoted = { ...verdict, evidence: [{ rowId: 'e1', field: 'action', value: 'DeleteTrail', why: '' }] };

test.each(protocols)('%s: asks once for evidence that is in the rows, and offers it', async (protocol) => {
  const { task, stand } = await startJudging(protocol, inTurn(submit(misquoted)));
  expect(await judgeEntity(task)).toMatchObject({
    evidence: verdict.evidence,
    trace: { recited: true, repaired: false },
  });
  expect(stand.asked[1]!.forced).toBe('submit_verdict');
  const correction = stand.asked[1]!.turns.at(-1)!.text;
  expect(correction).toContain('action=DeleteTrail: the field has a different value');
  expect(correction).toContain('{"rowId":"e1","field":"action","value":"ConsoleLogin"}');
});

test.each([
  ['misquotes again', submit(misquoted)],
  ['cites nothing', submit({ ...verdict, evidence: [] })],
  ['withdraws the verdict', submit({ ...verdict, triggered: false, evidence: [] })],
  ['is no longer valid', submit({ ...verdict, confidence: 'high' })],
])('fails if the second verdict %s', async (_name, second) => {
  const { task, stand } = await startJudging('anthropic', inTurn(submit(misquoted), second));
  expect(await failureOf(judgeEntity(task))).toMatchObject({ kind: 'evidence_not_found', retryable: false });
  expect(stand.asked).toHaveLength(2);
});

test('repairs the form and the evidence of a verdict once each, also in the last step', async () => {
  const { task, stand } = await startJudging('anthropic', inTurn(submit({}), submit(misquoted)), { stepsMax: 1 });
  expect(await judgeEntity(task)).toMatchObject({ trace: { recited: true, repaired: true } });
  expect(stand.asked).toHaveLength(3);
});

test('accepts a negative verdict without evidence, and a triggered one that is partly misquoted', async () => {
  const negative = { ...verdict, triggered: false, evidence: [] };
  const partly = { ...verdict, evidence: [...misquoted.evidence, ...verdict.evidence] };
  for (const submitted of [negative, partly]) {
    const { task, stand } = await startJudging('anthropic', () => submit(submitted));
    expect(await judgeEntity(task)).toMatchObject(submitted);
    expect(stand.asked).toHaveLength(1);
  }
});
