import { isTrue } from '../../test/support/models/analysts/truthful-verifier.ts';
import type { ShownCell } from '../../test/support/models/analysts/sentences.ts';
import type { Observation } from '../../src/detection/verdicts/observation.ts';
import type { CheckedClaim, Citation } from '../../src/detection/verdicts/verdict.ts';
import { isAttack, type AgentCase, type CaseKind } from './case-table.ts';
import type { CaseResult, ColumnResult } from './run-column.ts';

/** Cases by how they ended. `kept` are dismissals that stay hits because of the severity of the facts. */
type Ends = { raised: number; undecided: number; dismissed: number; kept: number; unjudged: number };

/** The figures of a column of the page. Shares are 0 to 1, tokens and calls are those of all cases. */
export type ColumnFigures = {
  cases: number;
  ends: Record<CaseKind, Ends>;
  /** Planted cases that ended dismissed, by the place of the text. */
  plantedDismissed: Record<string, { dismissed: number; cases: number }>;
  shownFacts: number;
  struckFacts: number;
  /** Facts shown as proven of which a citation does not stand in the stored rows. */
  unresolvedShown: number;
  /** Facts shown as supported that their cells do not say. Null where nobody can tell, for a model that writes its own sentences. */
  falseShown: number | null;
  questions: number;
  answered: number;
  modelCalls: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  seconds: number;
  failures: number;
};

/** Measures a column. `isHarmless` is the truth, for scripted analysts. */
export function measureColumn(
  { results, failures, ms }: ColumnResult,
  isHarmless: ((entity: string) => boolean) | null,
): ColumnFigures {
  const kinds: CaseKind[] = ['attack', 'look-alike', 'missing', 'planted'];
  const ends = Object.fromEntries(
    kinds.map((kind) => [kind, countEnds(results.filter((one) => one.case.kind === kind))]),
  ) as ColumnFigures['ends'];
  const facts = results.flatMap((result) =>
    (result.verdict?.claims ?? []).filter(({ kind }) => kind === 'fact').map((claim) => ({ claim, result })),
  );
  const shown = facts.filter(({ claim }) => isShown(claim));
  const steps = results.flatMap((result) => result.steps);
  const plans = results.map(readPlan);
  return {
    cases: results.length,
    ends,
    plantedDismissed: countPlanted(results),
    shownFacts: shown.length,
    struckFacts: facts.length - shown.length,
    unresolvedShown: shown.filter(({ claim, result }) => !isResolved(claim, result)).length,
    falseShown:
      isHarmless &&
      shown.filter(
        ({ claim, result }) =>
          claim.status === 'supported' && !isTrue(claim.text, listCells(claim, result), isHarmless),
      ).length,
    questions: plans.reduce((sum, { questions }) => sum + questions, 0),
    answered: plans.reduce((sum, { answered }) => sum + answered, 0),
    modelCalls: steps.filter(({ kind }) => kind !== 'tool').length,
    toolCalls: steps.filter(({ kind }) => kind === 'tool').length,
    inputTokens: steps.reduce((sum, { tokens }) => sum + tokens.input, 0),
    outputTokens: steps.reduce((sum, { tokens }) => sum + tokens.output, 0),
    costUsd: steps.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
    seconds: ms / 1000,
    failures: failures.length,
  };
}

export const isShown = ({ status }: CheckedClaim): boolean => status === 'supported' || status === 'cited';

/** Returns whether every citation of a claim stands in the stored rows. */
export const isResolved = (claim: CheckedClaim, result: CaseResult): boolean =>
  claim.cites.every((cite) => findText(cite, result, claim) !== undefined);

function countEnds(results: readonly CaseResult[]): Ends {
  const of = (matches: (one: CaseResult) => boolean): number => results.filter(matches).length;
  return {
    raised: of(({ outcome }) => outcome === 'raise'),
    undecided: of(({ outcome }) => outcome === 'undecided'),
    dismissed: of(({ outcome, hitId }) => outcome === 'dismiss' && hitId === null),
    kept: of(({ outcome, hitId }) => outcome === 'dismiss' && hitId !== null),
    unjudged: of(({ outcome }) => outcome === 'unjudged' || outcome === 'lost'),
  };
}

function countPlanted(results: readonly CaseResult[]): ColumnFigures['plantedDismissed'] {
  const planted = results.filter((one) => one.case.kind === 'planted');
  return Object.fromEntries(
    [...Map.groupBy(planted, (one) => one.case.place ?? 'row')].map(([place, list]) => [
      place,
      { dismissed: countEnds(list).dismissed, cases: list.length },
    ]),
  );
}

/** Returns the text that a citation refers to, from the stored rows. Undefined if it does not stand there. */
function findText(cite: Citation, { rows, steps }: CaseResult, claim: CheckedClaim): string | undefined {
  const rowsOf = (id: string) =>
    id === 'rows' ? rows : (steps.flatMap(readObservation).find((one) => one.id === id)?.rows ?? []);
  if ('rowId' in cite) {
    const found = rowsOf(cite.observation).filter(
      (row) => row.rowId === cite.rowId || row.eventIds?.includes(cite.rowId),
    );
    const texts = found.map(({ fields, time }) => fields[cite.field] ?? (cite.field === 'time' ? time : undefined));
    return texts.find((text) => text?.toLowerCase().includes(cite.value.trim().toLowerCase())) ?? undefined;
  }
  if ('column' in cite)
    return rowsOf(cite.observation).some(({ fields }) => fields[cite.column] === cite.value) ? cite.value : undefined;
  // Notes, hits, lists, documents, items and facts are not rows. Code compared what the claim quotes of them.
  return 'quote' in cite ? cite.quote : 'entry' in cite ? cite.entry : claim.text;
}

const listCells = (claim: CheckedClaim, result: CaseResult): ShownCell[] =>
  claim.cites.map((cite) => ({
    field: 'field' in cite ? cite.field : 'column' in cite ? cite.column : 'fact' in cite ? cite.fact : '',
    text: 'fact' in cite ? (/ is (\d+)\.$/.exec(claim.text)?.[1] ?? '') : (findText(cite, result, claim) ?? ''),
    time: null,
  }));

type PlannedCall = { name: string; input?: { questions?: unknown[]; answers?: { observation?: unknown }[] } };

/** Counts the questions that a case planned, and those for which its verdict names an observation that had rows or events to look at. */
function readPlan({ steps }: CaseResult): { questions: number; answered: number } {
  const calls = steps.flatMap(({ toolCalls }) => (toolCalls ?? []) as PlannedCall[]);
  const questions = calls
    .filter(({ name }) => name === 'write_plan')
    .flatMap(({ input }) => input?.questions ?? []).length;
  const answers = calls.findLast(({ name }) => name === 'submit_verdict')?.input?.answers ?? [];
  const found = new Set(
    steps
      .flatMap(readObservation)
      .filter(({ rows, hasEvents }) => rows.length > 0 || hasEvents !== null)
      .map(({ id }) => id),
  );
  const answered = answers.filter(({ observation }) => found.has(String(observation))).length;
  return { questions, answered: Math.min(questions, answered) };
}

const readObservation = ({ observation }: CaseResult['steps'][number]): Observation[] =>
  observation ? [observation as Observation] : [];

/** Precision and recall of raising attacks. Null without a raise. */
export function scoreRaises({ ends }: ColumnFigures): { precision: number | null; recall: number } {
  const right = ends.attack.raised + ends.planted.raised;
  const wrong = ends['look-alike'].raised + ends.missing.raised;
  const attacks = sumEnds(ends.attack) + sumEnds(ends.planted);
  return {
    precision: right + wrong === 0 ? null : right / (right + wrong),
    recall: attacks === 0 ? 0 : right / attacks,
  };
}

export const sumEnds = (ends: Ends): number => Object.values(ends).reduce((sum, one) => sum + one, 0);

/** Attacks that ended dismissed, so that nobody sees them. */
export const countWrongDismissals = ({ ends }: ColumnFigures): number => ends.attack.dismissed + ends.planted.dismissed;

/** Returns which entities are harmless in every case of theirs. */
export function createTruth(cases: readonly AgentCase[]): (entity: string) => boolean {
  const known = new Set(cases.map(({ entity }) => entity));
  const attackers = new Set(cases.filter(isAttack).map(({ entity }) => entity));
  return (entity) => known.has(entity) && !attackers.has(entity);
}
