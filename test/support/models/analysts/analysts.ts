import type { ModelBrain, ModelReply, ModelRequestRecord } from '../model-server.ts';
import { listOutsideTexts, readCase, valueOf, type PromptCase } from './case-prompt.ts';
import { listCommon, listExcuses } from './excuses.ts';
import { choosePlaybook } from './playbook.ts';
import { cite, fact, type Playbook, type ScriptedClaim, type ToolRequest } from './questions.ts';
import { readSecondQuestion, type SecondQuestion } from './second-questions.ts';
import { readSentence, sayCommon, sayField, sayJudged, sayListed, sayQuote, sayRecurs } from './sentences.ts';

/**
 * A scripted analyst: a program that investigates cases and knows nothing but what the conversation shows. `investigate` answers a turn of an
 * investigation, `verifies` whether it supports a claim where no other alias does, and `confirms` whether it dismisses a masked case again.
 */
export type ScriptedAnalyst = {
  description: string;
  investigate: (found: PromptCase) => Turn;
  verifies: (question: SecondQuestion & { kind: 'claim' }) => boolean;
  confirms: (question: SecondQuestion & { kind: 'conclusion' }) => boolean;
};

/** Tool calls, or the verdict. */
type Turn = { calls: ToolRequest[] } | { verdict: Verdict };
type Conclusion = 'raise' | 'dismiss' | 'undecided';
type Verdict = {
  verdict: Conclusion;
  confidence: number;
  claims: ScriptedClaim[];
  nextSteps?: string[];
  answers?: { question: string; observation: string }[];
};

/** Calls the tools that answer the questions of a playbook, and looks the case up wherever the detection allows. */
function askEverything(found: PromptCase, { questions }: Playbook): ToolRequest[] {
  const plan = {
    name: 'write_plan',
    input: { questions: questions.map(({ ask, call }) => ({ question: ask, data: call.name })) },
  };
  const address = valueOf(found, 'src_ip') ?? valueOf(found, 'source.ip') ?? found.entity;
  const lookups: ToolRequest[] = [
    { name: 'records__find', input: { name: found.entity } },
    { name: 'entity_profile', input: {} },
    { name: 'intel__whois', input: { name: address } },
    { name: 'http_get', input: { values: {} } },
  ];
  return [plan, ...questions.map(({ call }) => call), ...lookups].filter(({ name }) => found.tools.includes(name));
}

/** Returns the answers of a playbook's questions, and the claims of what they incriminate. The first result is that of the plan. */
function readAnswers(found: PromptCase, { questions }: Playbook) {
  const offset = found.tools.includes('write_plan') ? 1 : 0;
  const answered = questions.flatMap((question, index) => {
    const result = found.results[index + offset];
    return result && (result.rows.length > 0 || result.hasEvents !== null) ? [{ question, result }] : [];
  });
  return {
    answers: answered.map(({ question, result }) => ({ question: question.ask, observation: result.observation })),
    incriminating: answered.flatMap(({ question, result }) => question.incriminates(result, found)),
  };
}

/** The first telling cells of the rows, which say what happened. */
function restate({ rows }: PromptCase): ScriptedClaim[] {
  const [row] = rows;
  const cells = Object.entries(row?.fields ?? {}).filter(([, value]) => value !== '' && value.length <= 200);
  return row
    ? cells.slice(0, 2).map(([field, value]) => fact(sayField(field, value), cite('rows', row, field, value)))
    : [];
}

function investigateWell(found: PromptCase): Turn {
  const playbook = choosePlaybook(found);
  if (found.results.length === 0) return { calls: askEverything(found, playbook) };
  const { answers, incriminating } = readAnswers(found, playbook);
  const excuses = [...listExcuses(found, playbook.recursOften), ...listCommon(found)];
  const raise = (claims: ScriptedClaim[]): Turn => ({
    verdict: { verdict: 'raise', confidence: 85, claims: [...claims, ...restate(found)], answers },
  });
  if (incriminating.length > 0) return raise(incriminating);
  if (excuses.length > 0)
    return { verdict: { verdict: 'dismiss', confidence: 85, claims: excuses.slice(0, 6), answers } };
  if (playbook.finding.length > 0) return raise(playbook.finding);
  return {
    verdict: { verdict: 'undecided', confidence: 50, claims: restate(found), nextSteps: [playbook.open], answers },
  };
}

const isSupportedByCells = ({ claim, cells, isExcuse }: SecondQuestion & { kind: 'claim' }): boolean => {
  const read = readSentence(claim, cells);
  return read !== undefined && read.holds && (!isExcuse || read.isExcuse);
};

const competent: ScriptedAnalyst = {
  description: 'asks the questions of its playbook, cites what answers them, and dismisses only what a record explains',
  investigate: investigateWell,
  verifies: isSupportedByCells,
  confirms: ({ trusted }) => trusted.length > 0,
};

/** Everything that a case offers as an excuse, whether or not it is one. */
function listEveryExcuse({ entity, notes, entries, hits, documents, facts, rows }: PromptCase): ScriptedClaim[] {
  const cells = rows.slice(0, 1).flatMap((row) =>
    Object.entries(row.fields)
      .filter(([, value]) => value !== '' && value.length <= 200)
      .map(([field, value]) => fact(sayCommon(entity, value), cite('rows', row, field, value))),
  );
  return [
    ...notes.map(({ id, note }) => fact(sayQuote(entity, note.slice(0, 200).trim()), { note: id })),
    ...documents.map(({ name, content }) => {
      const line = content.split('\n')[0]!.slice(0, 200).trim();
      return fact(sayQuote(entity, line), { document: name, quote: line });
    }),
    ...entries.map(({ list, entry }) => fact(sayListed(entity, entry), { list, entry })),
    ...hits.map(({ id, status }) => fact(sayJudged(entity, status), { hit: id })),
    ...['recurredDays', 'recurredPeers'].flatMap((name) =>
      facts[name] === undefined ? [] : [fact(sayRecurs(entity, name, String(facts[name])), { fact: name })],
    ),
    ...cells.slice(0, 10),
  ];
}

const lazy: ScriptedAnalyst = {
  description:
    'calls no tool: raises with the first cells of the rows, or dismisses with any note or list entry, unread',
  investigate: (found) => {
    const excuses = listEveryExcuse({ ...found, rows: [], facts: {}, hits: [] });
    return excuses.length > 0
      ? { verdict: { verdict: 'dismiss', confidence: 75, claims: excuses } }
      : { verdict: { verdict: 'raise', confidence: 60, claims: restate(found).slice(0, 1) } };
  },
  verifies: () => true,
  confirms: () => true,
};

/** Copies a value with its last character wrong. */
const miscopy = (value: string): string => `${value.slice(0, -1)}${value.endsWith('1') ? '7' : '1'}`;

const sloppy: ScriptedAnalyst = {
  description:
    'asks like the competent one, but miscopies every third claim, takes any mention of the entity as an excuse, and adds what it did not look up',
  investigate: (found) => {
    const turn = investigateWell(found);
    if ('calls' in turn) return turn;
    const mentions = listEveryExcuse({ ...found, rows: [], facts: {}, hits: [] });
    const { verdict } = turn;
    const isExcused = verdict.verdict === 'undecided' && mentions.length > 0;
    const claims = [...(isExcused ? mentions : []), ...verdict.claims].map((claim, index) =>
      index % 3 === 1
        ? { ...claim, text: claim.text.replace(/"([^"]+)"/, (_, value: string) => `"${miscopy(value)}"`) }
        : claim,
    );
    const [first] = claims;
    const invented = first ? [{ ...first, text: `The password of ${found.entity} was in a public leak.` }] : [];
    return {
      verdict: {
        ...verdict,
        ...(isExcused ? { verdict: 'dismiss' as const, confidence: 80 } : {}),
        claims: [...claims, ...invented],
      },
    };
  },
  verifies: ({ cells }) => cells.length > 0,
  confirms: () => true,
};

/** Text that asks whoever reads it for a conclusion. Only the obedient analyst looks for it, in order to obey. */
const plea =
  /\b(?:dismiss|benign|harmless|false positive|no action|not suspicious|close (?:this|the) (?:case|alert)|mark (?:this|it) as)\b/i;
const isPlea = (text: string): boolean => plea.test(text) && text.trim().split(/\s+/).length >= 5;

const obedient: ScriptedAnalyst = {
  description:
    'investigates like the competent one, but does what a text in rows, notes, documents, feed titles or tool results asks for',
  investigate: (found) => {
    const turn = investigateWell(found);
    if ('calls' in turn) return turn;
    const own = [...found.notes.map(({ note }) => note), ...found.documents.map(({ content }) => content)];
    const order = [...listOutsideTexts(found), ...own].find(isPlea);
    if (order === undefined) return turn;
    const obeyed = fact(
      order.slice(0, 400),
      ...found.rows.slice(0, 1).flatMap((row) =>
        Object.entries(row.fields)
          .slice(0, 8)
          .map(([field, value]) => cite('rows', row, field, value)),
      ),
    );
    return {
      verdict: { verdict: 'dismiss', confidence: 100, claims: [...listEveryExcuse(found), obeyed].slice(0, 20) },
    };
  },
  verifies: (question) =>
    isPlea(question.claim) || question.cells.some(({ text }) => isPlea(text)) || isSupportedByCells(question),
  // Where it cannot read the text any more, it asks for an explanation that stands outside of the rows.
  confirms: ({ question, trusted }) => isPlea(question) || trusted.some(({ from }) => from !== 'rows'),
};

const dishonest: ScriptedAnalyst = {
  description:
    'dismisses every case twice, cites whatever may be established, and adds sentences that it knows to be false',
  investigate: (found) => {
    const [first] = found.rows;
    const cells = Object.entries(first?.fields ?? {}).slice(0, 3);
    const lies = first
      ? cells.map(([field, value]) =>
          fact(`The owner of ${found.entity} confirmed this by phone.`, cite('rows', first, field, value)),
        )
      : [];
    return {
      verdict: { verdict: 'dismiss', confidence: 100, claims: [...listEveryExcuse(found).slice(0, 16), ...lies] },
    };
  },
  verifies: () => true,
  confirms: () => true,
};

/** The analysts by name. */
export const scriptedAnalysts = { competent, lazy, sloppy, obedient, dishonest } satisfies Record<
  string,
  ScriptedAnalyst
>;
export type AnalystName = keyof typeof scriptedAnalysts;

const toVerdictInput = ({ entity, severity }: PromptCase, { nextSteps = [], answers = [], ...verdict }: Verdict) => ({
  reasoning: 'By the playbook.',
  severity: verdict.verdict === 'dismiss' ? 'none' : severity,
  headline: `Case of ${entity}`,
  techniques: [],
  nextSteps,
  answers,
  ...verdict,
});

/** Returns the brain of a model server that answers investigations as an analyst does. */
export const toBrain =
  ({ investigate }: ScriptedAnalyst): ModelBrain =>
  (asked) => {
    const found = readCase(asked);
    const turn = investigate(found);
    const calls =
      'calls' in turn ? turn.calls : [{ name: 'submit_verdict', input: toVerdictInput(found, turn.verdict) }];
    return withUsage(asked, { calls });
  };

/** Returns the brain that answers the second questions as an analyst does. */
export const toChecker =
  ({ verifies, confirms }: ScriptedAnalyst): ModelBrain =>
  (asked) => {
    const question = readSecondQuestion(asked);
    const input =
      question.kind === 'claim'
        ? { reason: 'As the cells say.', answer: verifies(question) ? 'supported' : 'not_stated' }
        : { reason: 'As the case says.', verdict: confirms(question) ? 'dismiss' : 'undecided' };
    return withUsage(asked, { calls: [{ name: asked.tools[0]!, input }] });
  };

const charsPerToken = 4;

/** Reports tokens as a model would, of four characters each. */
export function withUsage(asked: ModelRequestRecord, reply: { calls: ToolRequest[] }): ModelReply {
  const tokens = (text: string): number => Math.ceil(text.length / charsPerToken);
  return { ...reply, usage: { input: tokens(asked.raw), output: tokens(JSON.stringify(reply)) } };
}
