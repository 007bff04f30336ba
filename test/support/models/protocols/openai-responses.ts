import {
  argsOf,
  callId,
  defaultUsage,
  demanded,
  pieces,
  splitSystem,
  textOf,
  type Json,
  type Turn,
  type WireProtocol,
} from './wire-protocol.ts';

/** The responses of OpenAI. */
export const openaiResponses: WireProtocol = {
  read: (body) => {
    const turns: Turn[] = body.input.map((one: Json) => ({
      role: one.type === 'function_call_output' ? 'tool' : (one.role ?? 'assistant'),
      text: textOf(one.content ?? one.output ?? ''),
    }));
    const { system, turns: others } = splitSystem(turns);
    const tools: string[] = (body.tools ?? []).map((tool: Json) => tool.name);
    const choice = body.tool_choice;
    const forced = demanded(choice?.name, choice === 'required', tools) ?? body.text?.format?.name;
    return { system: `${system}${body.instructions ?? ''}`, turns: others, tools, forced };
  },
  stream: (reply) => {
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
    const { text = '', calls = [], usage, end } = reply;
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
      event(end ? 'response.incomplete' : 'response.completed', {
        response: {
          ...response,
          ...(end ? { incomplete_details: { reason: 'max_output_tokens' } } : {}),
          usage: {
            input_tokens: used.input,
            output_tokens: used.output,
            input_tokens_details: { cached_tokens: used.cached ?? 0 },
          },
        },
      }),
    ];
  },
};
