import { caseOf } from '../../test/support/detection/verdict-examples.ts';
import { candidatesOf, definitionOf } from '../../test/support/detection/analysis-examples.ts';
import { verdictSchema } from '../../src/detection/detections/record/field-schemas.ts';
import { typicalCost, typicalWork } from '../../src/detection/testing/cost-ranges.ts';
import type { BoundTool } from '../../src/detection/tools/tool-definition.ts';
import { createResult, toRow } from '../../src/detection/tools/tool-result.ts';
import { createVerifier, verifierTool } from '../../src/detection/verdicts/investigation/ask-verifier.ts';
import { gradeRun, gradeTool } from '../../src/detection/verdicts/investigation/grade-run.ts';
import { investigate } from '../../src/detection/verdicts/investigation/investigate.ts';
import { createSubmissionFormat } from '../../src/detection/verdicts/investigation/submission.ts';
import { estimateTokens, type ModelRequest, type ModelStep } from '../../src/platform/models/model-request.ts';
import type { ConfiguredModel } from '../../src/platform/models/models.ts';
import type { QualityFigure } from '../figures.ts';

const rowsPerResult = 20;
const reasoning =
  'The user signed in from an address that nobody used before, shortly after several failures. The searches show who else used the address and what followed.';

const signIn = (n: number) => ({
  _id: `event-${n}`,
  _time: new Date(Date.UTC(2024, 0, 1, 3, n)).toISOString(),
  user: 'alice@corp.example',
  sourceIPAddress: `192.0.2.${n}`,
  eventName: 'ConsoleLogin',
  eventSource: 'signin.amazonaws.com',
  awsRegion: 'eu-west-1',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  errorMessage: 'Failed authentication',
  mfaUsed: 'No',
  accountId: '123456789012',
  eventType: 'AwsConsoleSignIn',
});
const rows = Array.from({ length: rowsPerResult }, (_, n) => signIn(n));
const [candidate] = candidatesOf(rows.slice(0, 3), definitionOf('custom', { entityField: 'user' }));

type Counted = { calls: number; input: number; output: number };

/** A model that answers with `answer`, and counts what it reads and writes at four characters per token. */
function createCounter(answer: (request: ModelRequest, call: number) => { name: string; input: object }) {
  const counted: Counted = { calls: 0, input: 0, output: 0 };
  const call: ConfiguredModel['call'] = (request) => {
    const { name, input } = answer(request, ++counted.calls);
    const tokens = {
      input: estimateTokens([request.system, request.messages, request.tools]),
      output: estimateTokens(input),
    };
    counted.input += tokens.input;
    counted.output += tokens.output;
    const toolCalls = [{ id: `c${counted.calls}`, name, input: input as Record<string, unknown> }];
    const content = [{ type: 'tool-call' as const, toolCallId: `c${counted.calls}`, toolName: name, input }];
    return Promise.resolve({ tokens, text: '', toolCalls, messages: [{ role: 'assistant', content }], ms: 1 });
  };
  const model = { name: 'counter', alias: 'counter', entry: {}, call, fallbacks: [], rest: { untilMs: 0 } };
  return { counted, model: model as unknown as ConfiguredModel };
}

const steps: ModelStep[] = [];
const meter = {
  checkBudget: () => Promise.resolve(),
  recordStep: (step: ModelStep) => Promise.resolve(void steps.push(step)),
};
const { signal } = new AbortController();

const searchLogs: BoundTool = {
  name: 'search_logs',
  description: 'Runs a read-only query over any dataset of the same logs. Returns at most 100 rows.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' }, hours: { type: 'integer' } } },
  effect: 'read',
  source: 'events',
  isTrusted: false,
  parse: (input) => ({ input }),
  run: () => Promise.resolve(createResult({ rows: rows.map((row) => toRow(row._id, row, row._time)) })),
};

/** Claims on the first row of the case, each on another field. */
const claimsOf = (count: number) =>
  ['user', 'sourceIPAddress', 'eventName', 'awsRegion', 'mfaUsed', 'accountId'].slice(0, count).flatMap((field) => {
    const [row] = candidate!.rows;
    const value = row!.fields[field]!;
    const cites = [{ observation: 'rows', rowId: row!.rowId, field, value }];
    return [{ text: `The sign-in of the case has the ${field} ${value}.`, kind: 'fact', cites }];
  });

/** Investigates a case in a number of steps, all but the last a search, and verifies its facts. */
async function measureCase(stepCount: number, facts: number) {
  const analyst = createCounter((_, n) =>
    n < stepCount
      ? { name: 'search_logs', input: { query: `SELECT * FROM signins WHERE sourceIPAddress = '192.0.2.${n}'` } }
      : {
          name: 'submit_verdict',
          input: {
            reasoning,
            answers: [],
            claims: claimsOf(facts),
            techniques: ['T1078'],
            nextSteps: ['Ask alice whether she signed in.'],
            headline: 'alice signed in from a new address',
            verdict: 'raise',
            severity: 'medium',
            confidence: 80,
          },
        },
  );
  const verifier = createCounter(() => ({
    name: verifierTool,
    input: { reason: 'The cell has this value, and the claim says nothing else.', answer: 'supported' },
  }));
  await investigate({
    ...meter,
    model: analyst.model,
    definition: {
      name: 'Sign-in from a new address',
      description: 'A user signs in from an address that nobody used before.',
      detectionCategory: 'custom',
      detectionQuery: "SELECT * FROM signins WHERE eventName = 'ConsoleLogin'",
      systemPrompt: 'Find out who else used the address, and what the user did next. Benign: the VPN of the company.',
      planningMode: 'auto',
      mode: 'standard',
      customInstructions: null,
    },
    file: caseOf(candidate!),
    format: createSubmissionFormat(verdictSchema, null),
    tools: stepCount === 1 ? [] : [searchLogs],
    stepsMax: Math.max(stepCount, 2),
    establish: () => Promise.resolve(() => false),
    verify: createVerifier({
      model: verifier.model,
      meter: { startConversation: () => meter },
      entity: 'alice',
      signal,
    }),
    signal,
  });
  return { investigation: analyst.counted, verification: verifier.counted };
}

async function measureGrading(cases: number): Promise<Counted> {
  const judge = createCounter(() => ({
    name: gradeTool.name,
    input: { grades: [{ criterion: 1, reason: 'Every verdict cites the address of the sign-in.', met: true }] },
  }));
  const { rows: _rows, ...known } = candidate!;
  const verdict = {
    ...known,
    verdict: 'raise' as const,
    triggered: true,
    confidence: 80,
    headline: '',
    summary: '',
    claims: claimsOf(3).map((claim) => ({
      ...claim,
      kind: 'fact' as const,
      status: 'supported' as const,
      reason: null,
    })),
    evidence: [],
    techniques: [],
    nextStep: 'Ask alice whether she signed in.',
    openQuestion: null,
  };
  await gradeRun({
    ...meter,
    model: judge.model,
    sentences: ['Every verdict cites the address of the sign-in.'],
    steps: Array.from({ length: cases }, () => steps.filter(({ kind }) => kind === 'tool').slice(0, 4)).flat(),
    verdicts: Array.from({ length: cases }, () => verdict),
    signal,
  });
  return judge.counted;
}

const priceClasses = {
  'small model, $0.25 and $2': { inputPerMillion: 0.25, outputPerMillion: 2, cachedInputPerMillion: 0.025 },
  'medium model, $3 and $15': { inputPerMillion: 3, outputPerMillion: 15, cachedInputPerMillion: 0.3 },
  'large model, $15 and $75': { inputPerMillion: 15, outputPerMillion: 75, cachedInputPerMillion: 1.5 },
  'own server, $0': { inputPerMillion: 0, outputPerMillion: 0 },
};
const detections = 100;
const daysPerMonth = 30;

/** Measures the calls and tokens of an investigation, which estimates use where nothing was measured, and what 100 detections cost with them. */
export async function measureCost(): Promise<QualityFigure[]> {
  const figures: QualityFigure[] = [];
  const bounds = { low: [1, 2], expected: [5, 3], high: [20, 6] } as const;
  const add = (name: string, { calls, input, output }: Counted, typical: Counted): void => {
    // An estimate may be off by a fifth before it has to be measured again.
    const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 0.2 * b;
    figures.push({
      name,
      measured: `${calls} calls, ${input} tokens read, ${output} written`,
      target: `${typical.calls}, ${typical.input} and ${typical.output}, ±20 %`,
      isMet: calls === typical.calls && isNear(input, typical.input) && isNear(output, typical.output),
    });
  };
  for (const [bound, [stepCount, facts]] of Object.entries(bounds)) {
    const { investigation, verification } = await measureCase(stepCount, facts);
    const { investigation: ofSteps, verification: ofFacts } = {
      investigation: typicalWork.investigation[bound as keyof typeof bounds],
      verification: typicalWork.verification[bound as keyof typeof bounds],
    };
    add(`investigation of ${stepCount} steps`, investigation, ofSteps);
    add(`verification of ${facts} facts`, verification, ofFacts);
  }
  for (const [bound, cases] of Object.entries({ low: 1, expected: 2, high: 20 }))
    add(
      `grading of a run with ${cases} cases`,
      await measureGrading(cases),
      typicalWork.grading[bound as keyof typeof bounds],
    );
  for (const [name, price] of Object.entries(priceClasses)) {
    const model = { alias: 'm', entry: { price } } as unknown as ConfiguredModel;
    const costs = [typicalCost('investigation', model), typicalCost('verification', model)];
    const perMonth = (perDay: number): string => {
      const each = costs.reduce((sum, { costUsd }) => sum + (costUsd?.expected ?? 0), 0);
      return `$${Math.round(detections * perDay * daysPerMonth * each).toLocaleString('en')}`;
    };
    figures.push({
      name: `${detections} hourly detections, ${name} per million tokens`,
      measured: `${perMonth(0.1)}, ${perMonth(1)} or ${perMonth(10)} per month at 0.1, 1 or 10 candidates per detection and day`,
    });
  }
  return figures;
}
