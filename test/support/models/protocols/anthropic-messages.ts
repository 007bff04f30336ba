import {
  argsOf,
  callId,
  defaultUsage,
  demanded,
  pieces,
  textOf,
  type Json,
  type WireProtocol,
} from './wire-protocol.ts';

/** The messages of Anthropic. */
export const anthropicMessages: WireProtocol = {
  read: (body) => {
    const tools: string[] = (body.tools ?? []).map((tool: Json) => tool.name);
    const choice = body.tool_choice;
    const format = body.output_format ?? body.output_config?.format;
    return {
      system: textOf(body.system),
      turns: body.messages.map((one: Json) => ({ role: one.role, text: textOf(one.content) })),
      tools,
      forced: demanded(choice?.name, choice?.type === 'any', tools) ?? (format ? 'json' : undefined),
    };
  },
  stream: (reply) => {
    const event = (type: string, more: Json = {}): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
    const { text = '', calls = [], usage = defaultUsage, end } = 'refuse' in reply ? {} : reply;
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
    const stop = 'refuse' in reply ? 'refusal' : end ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
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
