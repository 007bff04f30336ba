import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import {
  dismissalOn,
  listRunRows,
  login,
  runbook,
  startJudgedRuns,
  verdictOn,
} from '../../../../test/support/detection/judged-runs.ts';
import { hour, type ScriptedSearch } from '../../../../test/support/detection/scripted-runs.ts';
import { startModelStandIn, type ModelBrain } from '../../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../../test/support/models/scripted-models.ts';
import { changeAgentSettings } from '../../detections/agent-settings/agent-settings.ts';
import { setHitStatus } from '../../hits/set-status.ts';
import { auditNext, getDismissals, sampleDismissalsAcrossOrgs } from './audit-dismissals.ts';
import { decideCase, getCase, getCases } from './review-cases.ts';

const testDb = await testDatabase();
const { signal } = new AbortController();

/** Starts runs whose model dismisses the sign-ins of the first window, and goes to the next day. `verifier` judges the audited ones again. */
async function startDismissed({ verifier, answer }: { verifier?: ModelBrain; answer?: ScriptedSearch } = {}) {
  const started = await startJudgedRuns(testDb, (asked) => dismissalOn(asked), {
    detection: { contextDocs: [runbook] },
    ...(answer ? { answer } : {}),
  });
  const { t, id, stand } = started;
  if (verifier) {
    const second = await startModelStandIn('anthropic', verifier);
    t.deps.models = createScriptedModels({ m: stand.url, verifier: second.url });
  }
  await t.runAt(hour(1));
  t.time.now = new Date(hour(25));
  const person = { ...t.caller, subject: 'kim@example.com' };
  const averageScore = () => t.select`select score_sum, scores, triggered from run_days where score_basis <> ''`;
  return { ...started, person, averageScore, audit: () => getDismissals(t.deps, t.caller, id) };
}

test('samples a day that has ended once, at least one dismissal of it, and offers it to people where no other alias verifies', async () => {
  const { t, person, audit } = await startDismissed();
  t.time.now = new Date(hour(23.9));
  expect(await sampleDismissalsAcrossOrgs(t.deps)).toBe(false);
  t.time.now = new Date(hour(24));
  await Promise.all(Array.from({ length: 4 }, () => sampleDismissalsAcrossOrgs(t.deps)));
  expect(await sampleDismissalsAcrossOrgs(t.deps)).toBe(false);
  expect(await t.select`select day::text, dismissals, sampled from dismissal_days`).toEqual([
    { day: '2026-03-02', dismissals: 2, sampled: 1 },
  ]);
  expect(await audit()).toMatchObject({
    dismissals: 2,
    sampled: 1,
    open: 1,
    audited: 0,
    boundPercent: null,
    verifiedBy: null,
    statement: 'No dismissal has been audited.',
  });
  const [one] = (await getCases(t.deps, t.caller, {})).cases;
  expect(one).toMatchObject({ kind: 'audit', verdict: 'dismiss', expiresAt: hour(24 * 8) });
  await decideCase(t.deps, person, one!.id, { decision: 'dismiss', reason: 'Known.' });
  expect(await audit()).toMatchObject({ audited: 1, wrong: 0, open: 0 });
  expect(await t.select`select 1 from hits`).toEqual([]);
});

test('a dismissal that a person finds wrong is a hit, lowers the score of its run, and is offered as a test case', async () => {
  const { t, person, averageScore, audit } = await startDismissed({
    answer: ({ window }) => (window.from < new Date(hour(1)) ? [login('root')] : []),
  });
  await sampleDismissalsAcrossOrgs(t.deps);
  const [before] = await listRunRows(t);
  expect([before!['score'], before!['hit_count']]).toEqual([100, 0]);
  const [one] = (await getCases(t.deps, t.caller, {})).cases;
  const decided = await decideCase(t.deps, person, one!.id, { decision: 'raise', reason: 'Nobody planned it.' });
  expect(await t.select`select id, status, judged, model_disagrees from hits`).toEqual([
    { id: decided.hitId, status: 'open', judged: true, model_disagrees: one!.summary },
  ]);
  const run = (await listRunRows(t)).find(({ id }) => id === before!.id)!;
  expect([Number(run['score']) < 100, run['hit_count']]).toEqual([true, 1]);
  expect(await averageScore()).toMatchObject([{ score_sum: run['score'], scores: 1, triggered: 1 }]);
  expect(await t.select`select score_criteria from runs where id = ${run.id}`).toMatchObject([
    { score_criteria: expect.stringContaining('0 of 1 dismissals stand after the audit') },
  ]);
  expect(await audit()).toMatchObject({ audited: 1, wrong: 1, boundPercent: 100 });
  expect((await getCase(t.deps, t.caller, one!.id)).testCase).toMatchObject({
    events: [{ _id: 'e-root-0', user: 'root' }],
    expect: ['root'],
  });
  // The former dismissal no longer drops what is found again.
  expect(await t.select`select positive, hit_id from suppressions`).toEqual([
    { positive: true, hit_id: decided.hitId },
  ]);
});

test('another alias judges the sample again: what it dismisses too was right', async () => {
  const { t, audit } = await startDismissed({ verifier: (asked) => dismissalOn(asked) });
  await sampleDismissalsAcrossOrgs(t.deps);
  expect([await auditNext(t.deps, signal), await auditNext(t.deps, signal)]).toEqual([true, false]);
  expect(await audit()).toMatchObject({
    audited: 1,
    wrong: 0,
    verifiedBy: 'verifier',
    statement: '0 wrong of 1 audited: at most 95 % of dismissals, 95 %',
  });
  expect((await getCases(t.deps, t.caller, { state: 'dismissed' })).cases).toMatchObject([
    { actor: null, second: { alias: 'verifier', verdict: 'dismiss' } },
  ]);
});

test('what another alias raises is a hit and counts as wrong, until people judge the hit as benign', async () => {
  const { t, person, audit } = await startDismissed({ verifier: (asked) => verdictOn(asked) });
  await sampleDismissalsAcrossOrgs(t.deps);
  await auditNext(t.deps, signal);
  expect(await audit()).toMatchObject({ audited: 1, wrong: 1 });
  const [hit] = await t.select<{
    id: string;
  }>`select id, summary, verdict, model_disagrees is null as agrees from hits`;
  expect(hit).toMatchObject({ summary: 'It signed in.', verdict: 'raise', agrees: false });
  await setHitStatus(t.deps, person, hit!.id, { status: 'benign', reason: 'A drill.' });
  expect(await audit()).toMatchObject({ audited: 1, wrong: 0 });
});

test('what the other alias leaves undecided, or cannot judge, waits for a person', async () => {
  const { t, audit } = await startDismissed({
    verifier: (asked, nth) => (nth === 1 ? { status: 500 } : verdictOn(asked, { verdict: 'undecided' })),
  });
  await sampleDismissalsAcrossOrgs(t.deps);
  await auditNext(t.deps, signal);
  expect(await auditNext(t.deps, signal)).toBe(false);
  await t.select`update review_cases set retry_at = now()`;
  await auditNext(t.deps, signal);
  expect(await audit()).toMatchObject({ audited: 0, open: 1 });
  expect((await getCases(t.deps, t.caller, {})).cases).toMatchObject([
    { second: { alias: 'verifier', verdict: 'undecided' } },
  ]);
});

test('an organization sets the share, and turns the audit off', async () => {
  const { t, audit } = await startDismissed();
  await changeAgentSettings(t.deps, t.caller, { auditPercent: 100 });
  await sampleDismissalsAcrossOrgs(t.deps);
  expect(await audit()).toMatchObject({ dismissals: 2, sampled: 2 });
  const off = await startDismissed();
  await changeAgentSettings(off.t.deps, off.t.caller, { auditPercent: 0 });
  await sampleDismissalsAcrossOrgs(off.t.deps);
  expect(await off.audit()).toMatchObject({ dismissals: 2, sampled: 0, open: 0 });
});
