import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { AppError } from '../../../platform/lib/errors.ts';
import { modelAuthorError } from '../../../platform/models/model-error.ts';
import { readInputValues } from '../../detections/record/input-values.ts';
import { scoreModelRun } from '../../verdicts/investigation/score.ts';
import { findBehaviorOf, findDefinitionOf } from '../judging/candidates.store.ts';
import type { Judged } from '../judging/judge.ts';
import { createProposer, storeProposal } from './agent-calls.ts';
import { findWholeIncident } from '../triggers/start-responses.store.ts';
import { readIncidentCase } from './incident-case.store.ts';
import { addVerdict } from '../judging/judging-session.ts';
import { createModelJudge, requireModel, type JudgeDeps } from '../judging/model/model-judge.ts';
import type { ConnectionFor } from '../../connections/open-connection.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import type { RunScore } from '../../verdicts/analyst/analyst-score.ts';
import type { Candidate, Facts, RenderedRow } from '../../analysis/candidate.ts';
import { findHit, type EventHitRow } from '../../hits/read-hits.store.ts';
import { addAgentComment } from '../../hits/hit-comments.ts';
import { lockHit } from '../../hits/hit-status.store.ts';
import type { InvestigationTrace } from '../../verdicts/investigation/investigate.ts';
import { isUnverified, type Conclusion, type Verdict } from '../../verdicts/verdict.ts';

export type RespondDeps = JudgeDeps & { db: Db; clock: Clock; connectionFor: ConnectionFor };
type Response = { judged: Judged; score: RunScore };

/**
 * Lets a response agent investigate what started its run: a hit, an incident as a whole, or its inputs. The verdict and the score follow the same rules as those of a detection, but
 * it raises no hit. Throws a ModelError if the agent has no model, or an input does not fit.
 */
export async function respond(deps: RespondDeps, run: ActiveRun, signal: AbortSignal): Promise<Response> {
  const model = requireModel(deps, run);
  checkInputs(run);
  const { candidate, ...subject } = await readSubject(deps, run);
  Object.assign(run, subject);
  run.propose = createProposer(deps, run);
  const judge = createModelJudge(deps, run, model);
  const judged = await judge.judge(candidate, signal);
  addVerdict(run, { ...judged, fallback: null });
  return { judged, score: scoreModelRun(run.progress.judging) };
}

/** The inputs may have changed since a person or a trigger set their values. */
function checkInputs({ definition, event }: ActiveRun): void {
  try {
    readInputValues(definition.inputs, event?.inputs ?? {});
  } catch (error) {
    if (error instanceof AppError) throw modelAuthorError('invalid_input', error.message);
    throw error;
  }
}

/** What a response agent investigates, and what of the run belongs to the detection that found it. */
type Subject = { candidate: Candidate } & Partial<
  Pick<ActiveRun, 'scope' | 'hitDetection' | 'connection' | 'definition'>
>;

const dayMs = 86_400_000;

/**
 * Returns the case of a response run. A hit is the case that its detection found, with its rows and facts, the memory, the documents and the connection of
 * the detection; an agent with a connection of its own keeps that. For a whole incident, the rows of its hits are the only evidence, so that a reader
 * finds there everything that the story cites. Without either, the case is the inputs, as one row that claims can cite. Throws a ModelError if the hit or the
 * incident does not exist any more.
 */
async function readSubject(
  { db, clock, connectionFor }: RespondDeps,
  { orgId, definition, event, id, scope, connection }: ActiveRun,
): Promise<Subject> {
  const hitId = event?.hitId ?? null;
  const incidentId = event && findWholeIncident(event);
  if (incidentId) {
    const candidate = await inOrg(db, orgId, (tx) => readIncidentCase(tx, orgId, incidentId));
    if (!candidate) throw modelAuthorError('unknown_incident', `The incident ${incidentId} has no hits any more.`);
    return { candidate, definition: { ...definition, toolNames: ['get_rows'] } };
  }
  if (hitId === null) {
    const now = clock();
    const facts = { windowFrom: new Date(now.getTime() - dayMs).toISOString(), windowTo: now.toISOString() };
    const fields = Object.fromEntries(
      Object.entries(event?.inputs ?? {}).map(([name, value]) => [name, String(value)]),
    );
    const rows: RenderedRow[] =
      Object.keys(fields).length === 0 ? [] : [{ rowId: 'inputs', time: now.toISOString(), fields }];
    const { name } = definition;
    return { candidate: { ...ownCase, entity: findEntity(fields) ?? id, kindKey: name, facts, rows } };
  }
  return inOrg(db, orgId, async (tx) => {
    const hit = await findHit(tx, orgId, hitId);
    if (!hit) throw modelAuthorError('unknown_hit', `The hit ${hitId} does not exist any more.`);
    const found = await findBehaviorOf(tx, orgId, hit);
    const hitDetection = await findDefinitionOf(tx, orgId, hit);
    const hasOwnConnection = definition.connectionId !== undefined || definition.siemType !== null;
    return {
      candidate: toCandidate(hit, found?.kindKey ?? ''),
      hitDetection,
      scope: { ...scope, detectionId: hit.detectionId, ...(found && { generation: found.generation }) },
      connection: hasOwnConnection ? connection : await connectionFor(orgId, hitDetection, tx),
      definition: { ...definition, contextDocs: [...definition.contextDocs, ...hitDetection.contextDocs] },
    };
  });
}

const ownCase = { entityType: 'request', kind: 'custom', severity: 'none' } as const;

/** An agent that is told an entity works on it. */
const findEntity = (fields: Record<string, string>): string | undefined =>
  fields['entity'] === undefined || fields['entity'] === '' ? undefined : fields['entity'].slice(0, 500);

function toCandidate(hit: EventHitRow, kindKey: string): Candidate {
  const { entity, entityType, kind, severity, windowFrom, windowTo } = hit;
  const times = { windowFrom: windowFrom.toISOString(), windowTo: windowTo.toISOString() };
  const facts = { ...(JSON.parse(hit.facts) as Facts), ...times };
  return { entity, entityType, kind, kindKey, severity, facts, rows: JSON.parse(hit.rows) as RenderedRow[] };
}

/** The status that a proven conclusion speaks for. An undecided case keeps its status. */
const statusOf = { raise: 'true_positive', dismiss: 'benign', undecided: null } as const satisfies Record<
  Conclusion,
  string | null
>;

/**
 * Writes what a response found to its hit, in the transaction that ends the run: a comment of the checked claims, and a proposed status if the case is
 * decided and nobody has decided it yet. It sets no status.
 */
export async function storeOutcome(
  tx: Tx,
  run: ActiveRun,
  { verdict, trace }: { verdict: Verdict; trace: InvestigationTrace | null },
  now: Date,
): Promise<void> {
  const { orgId, id: runId, detectionId: agentId } = run;
  const hitId = run.event?.hitId ?? null;
  const hit = hitId === null ? undefined : await lockHit(tx, orgId, hitId);
  if (hitId === null || !hit) return;
  await addAgentComment(tx, { orgId, hitId, agentId, runId }, renderComment(verdict, trace), now);
  const status = statusOf[verdict.verdict];
  if (status === null || hit.status !== 'open' || run.definition.mode === 'sandbox') return;
  const reason = verdict.summary;
  await storeProposal(
    tx,
    run,
    { tool: 'set_hit_status', input: { status, reason: reason.slice(0, 2_000) }, reason },
    now,
  );
}

const commentMax = 8_000;

/** Renders what an investigation proved, assumes, could not prove and could not find out. */
function renderComment(
  { headline, claims, openQuestion, nextStep }: Verdict,
  trace: InvestigationTrace | null,
): string {
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`${title}\n${lines.map((line) => `- ${line}`).join('\n')}`];
  const texts = (...statuses: string[]) =>
    claims.filter((claim) => statuses.includes(isUnverified(claim) ? 'unverified' : claim.status));
  const open = trace?.questions.filter(({ observation }) => observation === null) ?? [];
  return [
    headline,
    ...list(
      'Found:',
      texts('supported', 'cited').map(({ text }) => text),
    ),
    ...list(
      'Cited, but not verified:',
      texts('unverified').map(({ text }) => text),
    ),
    ...list(
      'Assessment:',
      texts('assessment').map(({ text }) => text),
    ),
    ...list(
      'Not proven:',
      texts('unproven').map(({ text, reason }) => `${text} (${reason})`),
    ),
    ...list(
      'Could not find out:',
      open.map(({ question }) => question),
    ),
    ...(openQuestion === null ? [] : [`Open question: ${openQuestion}`]),
    ...(nextStep === '' || nextStep === openQuestion ? [] : [`Next: ${nextStep}`]),
  ]
    .join('\n\n')
    .slice(0, commentMax);
}
