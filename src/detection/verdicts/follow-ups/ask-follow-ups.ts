import { type ModelStep, noTokens } from '../../../platform/models/model-request.ts';
import { createDelimiter } from '../../../platform/models/ask-model.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import { getCategory } from '../../analysis/registry.ts';
import { truncateAtWord } from '../../analysis/wording.ts';
import type { QuerySources } from '../../siem/connector.ts';
import { enrichTool } from '../../tools/enrich.ts';
import type { BoundTool } from '../../tools/tool-definition.ts';
import { selectEvidence } from '../analyst/evidence.ts';
import { checkClaims } from '../claims/check-claims.ts';
import { evidenceMax, lengths, listEvidence } from '../claims/decide-verdict.ts';
import { planTool, submitTool } from '../investigation/task.ts';
import { runToolCalls, type ToolTask } from '../investigation/toolbox.ts';
import type { Observation } from '../observation.ts';
import type { Claim, Verdict } from '../verdict.ts';
import { listEventCells, listRowCells, readCaseValues } from './case-values.ts';
import { isShort, listQuestions, type Question } from './questions.ts';

/** The tools that the built-in analyst calls. They only read, and code writes what they search for. */
export const followUpTools = ['search_logs', 'count_by', 'entity_profile', 'related_hits', 'lookup_indicator'];

const eventsMax = 5;
const datasetsMax = 2;
const hourMs = 3_600_000;
const dayHours = 24;
const eventHoursMax = 7 * 24;
const newFieldsMax = 3;
/** The fields of an event from which the new ones are chosen. */
const fieldsRead = 20;

/** `sources` is what the detection's query reads. `hasEventIds`: the events behind the rows can be read by the IDs that the rows have. */
type FollowUpSources = {
  tools: readonly BoundTool[];
  sources: QuerySources;
  hasEventIds: boolean;
  signal: AbortSignal;
};

/** A verdict of the built-in analyst with what its questions found, and the steps in which it asked them. */
export type FollowedUp = { verdict: Verdict; observations: Observation[]; steps: ModelStep[] };

/**
 * Asks the questions of a candidate's category and adds what they found to a verdict of the built-in analyst, as claims that cite rows and observations,
 * checked like those of a model. A question that fails or finds nothing adds nothing. Throws the reason of the signal.
 */
export async function askFollowUps(
  verdict: Verdict,
  candidate: Candidate,
  { tools, sources, hasEventIds, signal }: FollowUpSources,
): Promise<FollowedUp> {
  const steps: ModelStep[] = [];
  const observations: Observation[] = [];
  let calls = 0;
  const task: ToolTask = {
    tools,
    signal,
    recordStep: (step) => Promise.resolve(void steps.push(step)),
    model: { name: 'analyst' },
    definition: { mode: 'standard' },
    file: { candidate },
  };
  const ask = async (questions: readonly Question[]): Promise<Answer[]> => {
    const asked = questions.map(({ tool: name, input }, index) => ({ id: `${calls + index}`, name, input }));
    const outcomes = await runToolCalls(task, asked, {
      delimiter: createDelimiter(),
      observations,
      callsBefore: calls,
    });
    calls += questions.length;
    return questions.map((question, index) => ({ question, observation: outcomes[index]!.observation }));
  };
  const asked = hasEventIds ? listEventQuestions(candidate, sources.datasets) : [];
  const events = await ask(asked.map(({ question }) => question));
  observations.push(...listFound(events));
  const read = asked.flatMap(({ dataset }, index) => {
    const { observation } = events[index]!;
    return (observation && readCaseValues(candidate, dataset, listEventCells(observation))) ?? [];
  });
  const [dataset] = sources.datasets;
  const rowCells = dataset === undefined ? [] : listRowCells(candidate, sources);
  const values = read[0] ?? (dataset === undefined ? undefined : readCaseValues(candidate, dataset, rowCells));
  const isBound = new Set(tools.map(({ name }) => name));
  const questions = listQuestions({ candidate, values }, getCategory(candidate.kind).followUps);
  const answers = await ask(questions.filter(({ tool }) => tool !== enrichTool || isBound.has(tool)));
  observations.push(...listFound(answers));
  const all = [...events, ...answers];
  const followed = addClaims(verdict, all, { candidate, observations });
  return { verdict: followed, observations, steps: addPlan(steps, all, followed) };
}

type Answer = { question: Question; observation: Observation | undefined };

const listFound = (answers: readonly Answer[]): Observation[] =>
  answers.flatMap(({ observation }) => observation ?? []);

/** Returns the questions for the whole events behind the rows, which have fields that the query does not return. */
function listEventQuestions(
  candidate: Candidate,
  datasets: readonly string[],
): { dataset: string; question: Question }[] {
  const { rows, facts } = candidate;
  const ids = [...new Set(rows.flatMap(({ rowId, eventIds = [rowId] }) => eventIds))].slice(0, eventsMax);
  const list = ids.map((id) => `'${id.replaceAll("'", "''")}'`).join(', ');
  const from = Math.min(...[facts['windowFrom'], ...rows.map(({ time }) => time)].map((time) => toMs(time)));
  const hours = Math.ceil((toMs(facts['windowTo']) - from) / hourMs) + 1;
  return datasets.slice(0, datasetsMax).map((dataset) => ({
    dataset,
    question: {
      text: `What do the whole events in ${dataset} say?`,
      tool: 'search_logs',
      input: {
        query: `SELECT * FROM "${dataset.replaceAll('"', '""')}" WHERE _id IN (${list})`,
        hours: Number.isFinite(hours) ? Math.min(eventHoursMax, Math.max(1, hours)) : dayHours,
      },
      conclude: (found) => describeEvents(candidate, found),
    },
  }));
}

const toMs = (time: unknown): number => (typeof time === 'string' ? Date.parse(time) : Number.POSITIVE_INFINITY);

/** Returns the most relevant values of the events that the rows do not have. */
function describeEvents(candidate: Candidate, { id, rows }: Observation): Claim | undefined {
  const known = new Set(candidate.rows.flatMap(({ fields }) => Object.values(fields)));
  const news = selectEvidence({ ...candidate, rows: rows.slice(0, 1) }, fieldsRead)
    .filter(({ value, why }) => isRoleKnown(why) && !known.has(value) && isShort(value))
    .slice(0, newFieldsMax);
  if (news.length === 0) return undefined;
  const list = news.map(({ field, value }) => `${field} “${value}”`).join(', ');
  const cites = news.map(({ rowId, field, value }) => ({ observation: id, rowId, field, value }));
  return { text: `The whole event also has ${list}.`, kind: 'fact', cites };
}

/** Whether the name of a field says what its value is: an action, a target, a program, an origin or a result. */
const isRoleKnown = (why: string): boolean => why.startsWith('the ') && why !== 'the entity itself';

type Found = { candidate: Candidate; observations: readonly Observation[] };

/** Returns a verdict with the claims that the answers make, checked. */
function addClaims(verdict: Verdict, answers: readonly Answer[], { candidate, observations }: Found): Verdict {
  const claims = answers.flatMap(({ question, observation }) => (observation && question.conclude(observation)) ?? []);
  const known = { notes: [], hits: [], entries: [], items: [], documents: [] };
  const checks = checkClaims(claims, { candidate, facts: candidate.facts, observations, ...known });
  const standing = checks.flatMap(({ claim }) => (claim.status === 'unproven' ? [] : [claim.text]));
  return {
    ...verdict,
    summary: truncateAtWord([verdict.summary, ...standing].join(' '), lengths.summary),
    claims: [...verdict.claims, ...checks.map(({ claim }) => claim)],
    evidence: [...verdict.evidence, ...listEvidence(checks)].slice(0, evidenceMax),
  };
}

/** Returns the steps of the tools between the plan and the verdict, in the form of a model's, so that both are read alike. */
function addPlan(steps: readonly ModelStep[], answers: readonly Answer[], { verdict, confidence, entity }: Verdict) {
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last) return [];
  const own = { entity, ms: 0, model: 'analyst', tokens: noTokens, costUsd: 0 };
  const questions = answers.map(({ question: { text, tool } }) => ({ question: text, data: tool }));
  const answered = answers.flatMap(({ question, observation }) =>
    observation && (observation.rows.length > 0 || observation.hasEvents !== null)
      ? [{ question: question.text, observation: observation.id }]
      : [],
  );
  const call = (name: string, input: Record<string, unknown>) => [{ id: name, name, input }];
  return [
    { ...own, kind: 'plan' as const, at: first.at, toolCalls: call(planTool, { questions }) },
    ...steps,
    {
      ...own,
      kind: 'plan' as const,
      at: last.at,
      toolCalls: call(submitTool, { verdict, confidence, answers: answered }),
    },
  ];
}
