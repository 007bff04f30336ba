import type { LanguageModel } from 'ai';
import { ModelError, modelRefusedError } from '../model-error.ts';
import {
  addTokens,
  estimateTokens,
  noTokens,
  type ModelCall,
  type ModelRequest,
  type ModelResponse,
  type OutputWay,
  type ToolDeclaration,
} from '../model-request.ts';
import { definedOnly, providerOf, type ModelEntry } from '../providers.ts';
import { contextTooSmallError, readMeaning, toModelError, truncatedError } from './model-failures.ts';
import { createModelFetch, NotStreamedError } from './model-fetch.ts';
import { sendRequest, type SentResponse } from './send-request.ts';
import { isAnswered, isComplete, shapeRequest, type ShapedRequest } from './structured-output.ts';

/** Failures that no repetition solves, because the model or its settings do not fit what it is asked for. */
const misfits: readonly string[] = ['model_truncated', 'model_context_too_small', 'model_no_tools'];

/** What a model behind an alias can do. `ways` to submit a structured answer, the one that works first. */
export type Abilities = { ways: readonly OutputWay[]; callsTools: boolean };

/**
 * `find` returns what is known of an alias. `learn` stores what a call found out, for every process. `reportMisfit` stores that a call failed
 * because the alias does not fit. None rejects.
 */
export type AliasAbilities = {
  find: () => Promise<Abilities>;
  learn: (abilities: Abilities) => void;
  reportMisfit: (kind: string) => Promise<void>;
};

type Client = { name: string; entry: ModelEntry; abilities: AliasAbilities };
/** One call of an alias, which may need several requests. `streams` turns false once a server has not streamed. */
type Call = Client & { signal: AbortSignal; deadline: number; server: { streams: boolean } };

/**
 * Creates the call of an alias, within the entry's timeout, repetitions included. It asks for a structured answer in the ways of the alias
 * until one succeeds. It throws a ModelError, or the reason of the caller's signal.
 */
export function createModelCall(client: Client): ModelCall {
  const server = { streams: true };
  const { name, entry } = client;
  return async (request) => {
    const timeoutMs = entry.timeoutSeconds * 1000;
    const timeout = AbortSignal.timeout(timeoutMs);
    const startedAt = performance.now();
    const signal = AbortSignal.any([request.signal, timeout]);
    const call: Call = { ...client, signal, deadline: Date.now() + timeoutMs, server };
    try {
      const response = await answer(call, request);
      return { ...response, ms: Math.round(performance.now() - startedAt) };
    } catch (error) {
      request.signal.throwIfAborted();
      const failure = toModelError(error, name, entry, timeout.aborted);
      if (!request.isProbe && failure instanceof ModelError && misfits.includes(failure.failure.kind))
        await client.abilities.reportMisfit(failure.failure.kind);
      throw failure;
    }
  };
}

async function answer(call: Call, request: ModelRequest): Promise<Omit<ModelResponse, 'ms'>> {
  const { name, entry, abilities } = call;
  const { tools, forcedTool } = request;
  const tokens = estimateTokens([request.system, request.messages, tools]);
  if (tokens + entry.maxOutputTokens > entry.contextTokens) throw contextTooSmallError(name, entry, tokens);
  const known = await abilities.find();
  const answerName = forcedTool ?? request.answerTool ?? (tools.length === 1 ? tools[0]!.name : undefined);
  const tool = tools.find((one) => one.name === answerName);
  const canCall = known.callsTools || tool === undefined;
  if (forcedTool === undefined && canCall) {
    try {
      return await send(call, request, undefined);
    } catch (error) {
      if (!tool || !isFailure(error, ['model_no_tools'])) throw error;
      abilities.learn({ ways: known.ways.toSorted(toolsLast), callsTools: false });
    }
  }
  const ways = request.outputWay ? [request.outputWay] : known.ways;
  return answerInWays(call, request, tool!, ways);
}

const toolsLast = (a: OutputWay, b: OutputWay): number => Number(a === 'tool') - Number(b === 'tool');

/** Asks for the answer in each way until one succeeds. Returns the first response if none does: the caller can object to it. */
async function answerInWays(
  call: Call,
  request: ModelRequest,
  tool: ToolDeclaration,
  ways: readonly OutputWay[],
): Promise<Omit<ModelResponse, 'ms'>> {
  let spent = noTokens;
  let first: Omit<ModelResponse, 'ms'> | undefined;
  let rejection: unknown;
  for (const [index, way] of ways.entries()) {
    try {
      const response = await send(call, shapeRequest(request, tool, way), tool);
      spent = addTokens(spent, response.tokens);
      first ??= response;
      if (!isAnswered(response, tool, way)) continue;
      if (index > 0) {
        const { callsTools } = await call.abilities.find();
        call.abilities.learn({ ways: [way, ...ways.filter((other) => other !== way)], callsTools });
      }
      return { ...response, tokens: spent };
    } catch (error) {
      if (!isFailure(error, ['model_bad_request', 'model_no_tools'])) throw error;
      rejection ??= error;
    }
  }
  if (first) return { ...first, tokens: spent };
  throw rejection;
}

const isFailure = (error: unknown, kinds: readonly string[]): boolean =>
  error instanceof ModelError && kinds.includes(error.failure.kind);

/** Sends one request. An answer that was cut is an error, unless what was asked for is complete. */
async function send(
  call: Call,
  request: ShapedRequest,
  tool: ToolDeclaration | undefined,
): Promise<Omit<SentResponse, 'end'>> {
  const { name, entry, signal } = call;
  const maxOutputTokens = request.maxOutputTokens ?? entry.maxOutputTokens;
  try {
    const { end, ...response } = await sendOnce(call, { ...request, signal });
    if (end === 'refused') throw modelRefusedError(name);
    if (end === 'cut' && !(tool && isComplete(response, tool)))
      throw truncatedError(name, response.tokens, maxOutputTokens);
    return response;
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error, name, entry, false);
  }
}

async function sendOnce(call: Call, request: ShapedRequest): Promise<SentResponse> {
  const { entry, server } = call;
  const language = await createLanguageModel(call);
  try {
    return await sendRequest(entry, language, request, server);
  } catch (error) {
    if (!(error instanceof NotStreamedError)) throw error;
    server.streams = false;
    return sendRequest(entry, language, request, server);
  }
}

/** Creates the client of a provider for one call. It sends nothing. */
function createLanguageModel({ entry, deadline }: Call): Promise<LanguageModel> {
  const { apiKey, baseUrl: baseURL, headers } = entry;
  const fetch = createModelFetch({ deadline, isPermanent: (body) => readMeaning(entry, body) !== undefined });
  return providerOf(entry).create(entry, { ...definedOnly({ apiKey, baseURL, headers }), fetch });
}
