import type { Observation } from '../../api/hits.ts';
import type { RunStep } from '../../api/runs.ts';

/** A question of the plan, the data that would answer it, and the observation that did. */
export type Question = { question: string; data: string; observation: string | null };

/** The tools of the second questions: the verifier's, which looks at one claim, and the one that confirms a dismissal. */
const checkTools = { answer: 'claim', conclude: 'dismissal' } as const;

/**
 * A step as a part of an investigation. `said` are the words of the model beside what it calls. `check` is a second question: about a claim, or about a
 * dismissal. `submission` ends the investigation unless it goes back to the model. `grades` are those of acceptance criteria.
 */
export type Part = { step: RunStep; said: string } & PartKind;

type PartKind =
  | { kind: 'plan'; questions: Question[] }
  | { kind: 'call' }
  | { kind: 'tool'; observation: Observation | undefined }
  | { kind: 'submission'; verdict: string; confidence: number | null }
  | { kind: 'grades'; count: number }
  | { kind: 'check'; subject: 'claim' | 'dismissal'; claim: string | undefined; result: string; reason: string };

/** How a candidate was investigated in one attempt of a run. */
export type Investigation = {
  key: string;
  entity: string;
  /** A response agent has no candidate. */
  candidateId: string | undefined;
  attempt: number;
  questions: Question[];
  observations: Observation[];
  parts: Part[];
};

type ToolCall = { name: string; input: Record<string, unknown> };

/** Returns the steps of a run by candidate, in the order in which the candidates came up. */
export function readInvestigations(steps: readonly RunStep[]): Investigation[] {
  const groups = Map.groupBy(steps, ({ attempt, entity, candidateId = entity }) => `${attempt} ${candidateId}`);
  return [...groups].map(([key, own]) => {
    const { entity, candidateId, attempt } = own[0]!;
    const answers = own.flatMap((step) => readCalls(step).flatMap(readAnswers));
    const parts = own.map((step) => readPart(step, answers));
    return {
      key,
      entity,
      candidateId,
      attempt,
      questions: parts.flatMap((part) => (part.kind === 'plan' ? part.questions : [])),
      observations: own.flatMap(({ observation }) => observation ?? []),
      parts,
    };
  });
}

function readPart(step: RunStep, answers: ReadonlyMap<string, string>[]): Part {
  const calls = readCalls(step);
  const said = listObjects(step.toolCalls).length > 0 || calls.length === 0 ? (step.text ?? '') : '';
  return { step, said, ...readKind(step, calls, answers) };
}

function readKind(step: RunStep, calls: ToolCall[], answers: ReadonlyMap<string, string>[]): PartKind {
  if (step.kind === 'tool') return { kind: 'tool', observation: step.observation };
  const [first] = calls;
  if (first && calls.length === 1 && Object.hasOwn(checkTools, first.name)) {
    const { answer, verdict, reason } = first.input;
    return {
      kind: 'check',
      subject: checkTools[first.name as keyof typeof checkTools],
      claim: readCheckedClaim(step),
      result: String(answer ?? verdict ?? ''),
      reason: String(reason ?? ''),
    };
  }
  const grades = calls.find(({ name }) => name === 'grade');
  if (grades) return { kind: 'grades', count: listObjects(grades.input['grades']).length };
  const submitted = calls.find(({ name }) => name === 'submit_verdict');
  if (submitted) {
    const { verdict, confidence } = verdictOf(submitted);
    return {
      kind: 'submission',
      verdict: String(verdict ?? ''),
      confidence: typeof confidence === 'number' ? confidence : null,
    };
  }
  const questions = calls.flatMap(readQuestions).map((one) => ({
    ...one,
    observation: answers.map((some) => some.get(one.question)).findLast((id) => id !== undefined) ?? null,
  }));
  return questions.length > 0 ? { kind: 'plan', questions } : { kind: 'call' };
}

/** The claim in the first message to the verifier. Undefined for a question of another form. */
function readCheckedClaim({ sent }: RunStep): string | undefined {
  const contents = listObjects(sent).map(({ content }) => content);
  return contents
    .map((content) =>
      typeof content === 'string' ? /^Claim:\n<([\w-]+)>\n([^]*?)\n<\/\1>/.exec(content)?.[2] : undefined,
    )
    .find((claim) => claim !== undefined);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The tool calls of a model's answer. A model that cannot call tools writes what it submits as JSON into its text. */
function readCalls({ toolCalls, text = '' }: RunStep): ToolCall[] {
  const calls = listObjects(toolCalls).map(({ name, input }) => ({
    name: String(name),
    input: isObject(input) ? input : {},
  }));
  if (calls.length > 0) return calls;
  const input = readJson(text);
  const name =
    'questions' in input
      ? 'write_plan'
      : 'grades' in input
        ? 'grade'
        : 'answer' in input
          ? 'answer'
          : 'claims' in verdictOf({ input })
            ? 'submit_verdict'
            : 'reason' in input && 'verdict' in input
              ? 'conclude'
              : undefined;
  return name === undefined ? [] : [{ name, input }];
}

function readJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** What was submitted: with a schema of the author, the verdict is a part of it. */
const verdictOf = ({ input }: Pick<ToolCall, 'input'>): Record<string, unknown> =>
  isObject(input['verdict']) ? input['verdict'] : input;

const listObjects = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((one: unknown) => isObject(one)) : [];

const readQuestions = ({ name, input }: ToolCall): Omit<Question, 'observation'>[] =>
  name === 'write_plan'
    ? listObjects(input['questions']).map(({ question, data }) => ({
        question: String(question ?? ''),
        data: String(data ?? ''),
      }))
    : [];

/** The observations that a submission states to answer the questions of the plan. */
function readAnswers(call: ToolCall): ReadonlyMap<string, string>[] {
  if (call.name !== 'submit_verdict') return [];
  const answers = listObjects(verdictOf(call)['answers']);
  return [new Map(answers.map(({ question, observation }) => [String(question), String(observation)]))];
}
