import type { ModelMessage } from 'ai';
import type { ModelRequest, ModelResponse, OutputWay, ToolDeclaration } from '../model-request.ts';

/** What a request contains for one way of submitting a structured answer. `schema` is the JSON schema of the response format. */
export type ShapedRequest = Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'maxOutputTokens' | 'signal'> & {
  toolChoice?: 'none' | 'required' | { type: 'tool'; toolName: string };
  schema?: ToolDeclaration;
};

/**
 * Asks for the input of a tool in one way. Only the end of the request depends on the way, so that the provider's cache of what precedes
 * stays valid. One tool is `required`, because some servers accept no tool by name. Where calls precede, providers want the tools declared.
 */
export function shapeRequest(request: ModelRequest, answer: ToolDeclaration, way: OutputWay): ShapedRequest {
  const { system, messages, tools, maxOutputTokens, signal } = request;
  const shared = { system, tools, maxOutputTokens, signal };
  if (way === 'tool')
    return {
      ...shared,
      messages,
      toolChoice: tools.length === 1 ? 'required' : { type: 'tool', toolName: answer.name },
    };
  const hasCalls = messages.some(({ role }) => role === 'tool');
  return {
    ...shared,
    messages: appendInstruction(messages, describeAnswer(answer)),
    tools: hasCalls ? tools : [],
    ...(hasCalls ? { toolChoice: 'none' as const } : {}),
    ...(way === 'schema' ? { schema: answer } : {}),
  };
}

const describeAnswer = ({ name, description, inputSchema }: ToolDeclaration): string =>
  `Tools cannot be called now. Instead of calling ${name} (${description}), reply with its input: one JSON object that matches this JSON schema, without any other text.\n${JSON.stringify(inputSchema)}`;

/** Appends to the last message of the user where it is the last one: the chat templates of some models demand that roles alternate. */
function appendInstruction(messages: ModelMessage[], text: string): ModelMessage[] {
  const last = messages.at(-1);
  if (last?.role !== 'user' || typeof last.content !== 'string') return [...messages, { role: 'user', content: text }];
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${text}` }];
}

/** Returns the answer of a model: the input of the tool that it called, or the JSON object in its text, or undefined. */
export function findAnswer(
  { toolCalls, text }: Reply,
  { name, inputSchema }: Pick<ToolDeclaration, 'name' | 'inputSchema'>,
): unknown {
  const call = toolCalls.find((one) => one.name === name);
  const { required } = inputSchema as { required?: string[] };
  return call ? call.input : parseAnswer(text, required);
}

type Reply = Pick<ModelResponse, 'toolCalls' | 'text'>;

/**
 * Returns whether a model has answered in a way: called the tool, even with a wrong input, or written a JSON object. Text counts beside a
 * tool only if it has the required fields.
 */
export function isAnswered(reply: Reply, tool: ToolDeclaration, way: OutputWay): boolean {
  if (reply.toolCalls.some(({ name }) => name === tool.name)) return true;
  return way === 'tool' ? isComplete(reply, tool) : findAnswer(reply, tool) !== undefined;
}

/** Returns whether a response contains an object with all fields that the tool requires. */
export function isComplete(reply: Reply, tool: ToolDeclaration): boolean {
  const answer = findAnswer(reply, tool);
  const { required = [] } = tool.inputSchema as { required?: string[] };
  return typeof answer === 'object' && answer !== null && required.every((field) => field in answer);
}

const textMax = 400_000;
/** How many opening braces are tried. Text that never closes them costs this many scans. */
const startsMax = 60;

/**
 * Returns the JSON object in a model's text, or undefined. The text may have reasoning in tags, prose before and after, and code fences.
 * Of several objects, the last with all `required` fields counts, otherwise the longest: models quote examples before they answer. What was
 * cut is never completed.
 */
export function parseAnswer(text: string, required: readonly string[] = []): Record<string, unknown> | undefined {
  const bounded = text.slice(0, textMax);
  return pickObject(findObjects(withoutReasoning(bounded)), required) ?? pickObject(findObjects(bounded), required);
}

type FoundObject = { value: Record<string, unknown>; length: number };

function pickObject(found: FoundObject[], required: readonly string[]): Record<string, unknown> | undefined {
  const complete = found.findLast(({ value }) => required.every((field) => Object.hasOwn(value, field)));
  return (complete ?? found.toSorted((a, b) => b.length - a.length)[0])?.value;
}

const reasoning = /<(think|thinking|thought|reasoning|scratchpad)>[\s\S]*?(?:<\/\1>|$)/gi;
/** Chat templates that open the tag themselves leave only its end in the text. */
const endOfReasoning = /^[\s\S]*<\/(?:think|thinking|thought|reasoning|scratchpad)>/i;

const withoutReasoning = (text: string): string => text.replace(reasoning, '').replace(endOfReasoning, '');

function findObjects(text: string): FoundObject[] {
  const found: FoundObject[] = [];
  let from = text.indexOf('{');
  for (let starts = 0; from !== -1 && starts < startsMax; starts++) {
    const end = findEnd(text, from);
    const value = end === undefined ? undefined : parseObject(text.slice(from, end));
    if (value !== undefined) found.push({ value, length: end! - from });
    from = text.indexOf('{', value === undefined ? from + 1 : end!);
  }
  return found;
}

/** Returns the position after the brace that closes the one at `from`, or undefined. */
function findEnd(text: string, from: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (isInString) {
      if (char === '\\') at += 1;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === '{') depth += 1;
    else if (char === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
