import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listen } from '../listen.ts';

/** A reply in the provider's protocol: text and tool calls, or a refusal. */
type StreamedReply =
  | {
      text?: string;
      calls?: { name: string; input: unknown; raw?: string }[];
      /** `input` includes `cached` and `cacheWritten`. */
      usage?: { input: number; output: number; cached?: number; cacheWritten?: number } | null;
    }
  | { refuse: true };

/** The stand-in's reaction to one request: a reply or a failure. */
export type ModelReply =
  | StreamedReply
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | { cut: 'before' | 'within' }
  | { garbage: true }
  | { hang: true };

export type Turn = { role: string; text: string };
/** A request, independent of the provider's protocol. */
export type ModelRequestRecord = {
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  raw: string;
  system: string;
  turns: Turn[];
  tools: string[];
  forced: string | undefined;
};

export type ModelBrain = (asked: ModelRequestRecord, nth: number) => ModelReply | Promise<ModelReply>;
export type ModelStandIn = { url: string; asked: ModelRequestRecord[]; think: (brain: ModelBrain) => void };
export type ServedModel = ModelStandIn & { close: () => Promise<void> };
export type Protocol = 'openai-chat' | 'openai-responses' | 'anthropic';
type Json = ReturnType<typeof JSON.parse>;

/** Starts an HTTP server that speaks a provider's protocol, streams, and responds as its brain decides. */
export async function serveModelStandIn(protocol: Protocol, first?: ModelBrain): Promise<ServedModel> {
  const asked: ModelRequestRecord[] = [];
  let brain: ModelBrain = first ?? (() => ({ text: 'ready' }));
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString('utf8');
    const body = JSON.parse(raw) as Record<string, unknown>;
    const seen: ModelRequestRecord = {
      path: request.url ?? '',
      headers: request.headers,
      body,
      raw,
      ...readers[protocol](body),
    };
    asked.push(seen);
    const reply = await brain(seen, asked.length);
    if ('hang' in reply) return;
    if ('status' in reply) {
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(
        JSON.stringify(reply.body ?? { error: { type: 'error', message: `stand-in says ${reply.status}` } }),
      );
      return;
    }
    if ('cut' in reply && reply.cut === 'before') return void response.destroy();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if ('garbage' in reply) return void response.end('data: {"this is": not json\n\ndata: [DONE]\n\n');
    const events = 'cut' in reply ? writers[protocol]({ text: 'I begin and' }).slice(0, -2) : writers[protocol](reply);
    for (const event of events) response.write(event);
    if ('cut' in reply) setTimeout(() => response.destroy(), 20);
    else response.end();
  }
  const url = `${await listen(server)}/v1`;
  return { url, asked, think: (next) => (brain = next), close: () => closeServer(server) };
}

const textOf = (content: Json): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part: Json) => part.text ?? part.output ?? textOf(part.content ?? '')).join('')
      : '';

function splitSystem(turns: Turn[]): { system: string; turns: Turn[] } {
  const isSystem = ({ role }: Turn): boolean => role === 'system' || role === 'developer';
  const texts = turns.filter(isSystem).map(({ text }) => text);
  return { system: texts.join(''), turns: turns.filter((turn) => !isSystem(turn)) };
}

const readers: Record<Protocol, (body: Json) => Pick<ModelRequestRecord, 'system' | 'turns' | 'tools' | 'forced'>> = {
  'openai-chat': (body) => {
    const turns: Turn[] = body.messages.map((one: Json) => ({ role: one.role, text: textOf(one.content) }));
    return {
      ...splitSystem(turns),
      tools: (body.tools ?? []).map((tool: Json) => tool.function.name),
      forced: body.tool_choice?.function?.name,
    };
  },
  'openai-responses': (body) => {
    const turns: Turn[] = body.input.map((one: Json) => ({
      role: one.type === 'function_call_output' ? 'tool' : (one.role ?? 'assistant'),
      text: textOf(one.content ?? one.output ?? ''),
    }));
    const { system, turns: others } = splitSystem(turns);
    return {
      system: `${system}${body.instructions ?? ''}`,
      turns: others,
      tools: (body.tools ?? []).map((tool: Json) => tool.name),
      forced: body.tool_choice?.name,
    };
  },
  anthropic: (body) => ({
    system: textOf(body.system),
    turns: body.messages.map((one: Json) => ({ role: one.role, text: textOf(one.content) })),
    tools: (body.tools ?? []).map((tool: Json) => tool.name),
    forced: body.tool_choice?.name,
  }),
};

type Usage = { input: number; output: number; cached?: number; cacheWritten?: number };
const defaultUsage: Usage = { input: 100, output: 20 };
const callId = (index: number): string => `call_${index}_${Math.random().toString(36).slice(2)}`;
const argsOf = (call: { input: unknown; raw?: string }): string => call.raw ?? JSON.stringify(call.input);

const toChatUsage = ({ input, output, cached = 0 }: Usage): Json => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
});

const writers: Record<Protocol, (reply: StreamedReply) => string[]> = {
  'openai-chat': (reply) => {
    const chunk = (delta: Json, finish: string | null = null, usage?: Json): string =>
      `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'stand-in-2026', choices: usage ? [] : [{ index: 0, delta, finish_reason: finish }], ...(usage ? { usage } : {}) })}\n\n`;
    const done = 'data: [DONE]\n\n';
    if ('refuse' in reply) return [chunk({ role: 'assistant' }), chunk({}, 'content_filter'), done];
    const { text = '', calls = [], usage = defaultUsage } = reply;
    return [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(text).map((content) => chunk({ content })),
      ...calls.flatMap((call, index) => [
        chunk({
          tool_calls: [{ index, id: callId(index), type: 'function', function: { name: call.name, arguments: '' } }],
        }),
        ...pieces(argsOf(call)).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
      ]),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      ...(usage ? [chunk({}, null, toChatUsage(usage))] : []),
      done,
    ];
  },
  'openai-responses': (reply) => {
    const event = (type: string, more: Json): string => `data: ${JSON.stringify({ type, ...more })}\n\n`;
    const response = { id: 'r1', object: 'response', created_at: 1, model: 'stand-in-2026', output: [] };
    if ('refuse' in reply)
      return [
        event('response.created', { response }),
        event('response.incomplete', {
          response: {
            ...response,
            incomplete_details: { reason: 'content_filter' },
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        }),
      ];
    const { text = '', calls = [], usage } = reply;
    const used = usage ?? defaultUsage;
    return [
      event('response.created', { response }),
      ...(text
        ? [
            event('response.output_item.added', {
              output_index: 0,
              item: { type: 'message', id: 'm1', role: 'assistant', content: [] },
            }),
            ...pieces(text).map((delta) =>
              event('response.output_text.delta', { item_id: 'm1', output_index: 0, content_index: 0, delta }),
            ),
            event('response.output_item.done', {
              output_index: 0,
              item: {
                type: 'message',
                id: 'm1',
                role: 'assistant',
                content: [{ type: 'output_text', text, annotations: [] }],
              },
            }),
          ]
        : []),
      ...calls.flatMap((call, at) => {
        const item = { type: 'function_call', id: `fc_${at}`, call_id: callId(at), name: call.name };
        const index = at + 1;
        return [
          event('response.output_item.added', { output_index: index, item: { ...item, arguments: '' } }),
          ...pieces(argsOf(call)).map((delta) =>
            event('response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta }),
          ),
          event('response.output_item.done', {
            output_index: index,
            item: { ...item, arguments: argsOf(call), status: 'completed' },
          }),
        ];
      }),
      event('response.completed', {
        response: {
          ...response,
          usage: {
            input_tokens: used.input,
            output_tokens: used.output,
            input_tokens_details: { cached_tokens: used.cached ?? 0 },
          },
        },
      }),
    ];
  },
  anthropic: (reply) => {
    const event = (type: string, more: Json = {}): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
    const { text = '', calls = [], usage = defaultUsage } = 'refuse' in reply ? {} : reply;
    const textBlock = (whole: string) => ({
      start: { type: 'text', text: '' },
      deltas: pieces(whole).map((part) => ({ type: 'text_delta', text: part })),
    });
    const blocks = [
      ...(text ? [textBlock(text)] : []),
      ...calls.map((call, at) => ({
        start: { type: 'tool_use', id: callId(at), name: call.name, input: {} },
        deltas: pieces(argsOf(call)).map((part) => ({ type: 'input_json_delta', partial_json: part })),
      })),
    ];
    const stop = 'refuse' in reply ? 'refusal' : calls.length > 0 ? 'tool_use' : 'end_turn';
    const tokens = usage ?? defaultUsage;
    return [
      event('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'stand-in-2026',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: tokens.input - (tokens.cached ?? 0) - (tokens.cacheWritten ?? 0),
            cache_read_input_tokens: tokens.cached ?? 0,
            cache_creation_input_tokens: tokens.cacheWritten ?? 0,
            output_tokens: 0,
          },
        },
      }),
      ...blocks.flatMap(({ start, deltas }, index) => [
        event('content_block_start', { index, content_block: start }),
        ...deltas.map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', {
        delta: { stop_reason: stop, stop_sequence: null },
        usage: { output_tokens: tokens.output },
      }),
      event('message_stop'),
    ];
  },
};

/** Splits a text into pieces, as a model streams it. */
function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,40}/g) ?? [];
}
