import {
  argsOf,
  callId,
  defaultUsage,
  demanded,
  pieces,
  splitSystem,
  textOf,
  type Json,
  type StreamedReply,
  type TokenCounts,
  type Turn,
  type WireProtocol,
} from './wire-protocol.ts';

const toChatUsage = ({ input, output, cached = 0 }: TokenCounts): Json => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
});

/** The chat completions of OpenAI, which vLLM, Ollama and llama.cpp speak as well. */
export const openaiChat: WireProtocol = {
  read: (body) => {
    const turns: Turn[] = body.messages.map((one: Json) => ({ role: one.role, text: textOf(one.content) }));
    const tools: string[] = (body.tools ?? []).map((tool: Json) => tool.function.name);
    const choice = body.tool_choice;
    const schema = body.response_format?.json_schema?.name;
    return {
      ...splitSystem(turns),
      tools,
      forced: demanded(choice?.function?.name, choice === 'required', tools) ?? schema,
    };
  },
  stream: (reply) => {
    const chunk = (delta: Json, finish: string | null = null, usage?: Json): string =>
      `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'stand-in-2026', choices: usage ? [] : [{ index: 0, delta, finish_reason: finish }], ...(usage ? { usage } : {}) })}\n\n`;
    const done = 'data: [DONE]\n\n';
    if ('refuse' in reply) return [chunk({ role: 'assistant' }), chunk({}, 'content_filter'), done];
    const { text = '', calls = [], usage = defaultUsage, end } = reply;
    return [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(text).map((content) => chunk({ content })),
      ...calls.flatMap((call, index) => [
        chunk({
          tool_calls: [{ index, id: callId(index), type: 'function', function: { name: call.name, arguments: '' } }],
        }),
        ...pieces(argsOf(call)).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
      ]),
      chunk({}, end ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
      ...(usage ? [chunk({}, null, toChatUsage(usage))] : []),
      done,
    ];
  },
  document: (reply) => toDocument(reply),
};

function toDocument(reply: StreamedReply): Json {
  const { text = '', calls = [], usage = defaultUsage, end } = 'refuse' in reply ? {} : reply;
  const tool_calls = calls.map((call, index) => ({
    id: callId(index),
    type: 'function',
    function: { name: call.name, arguments: argsOf(call) },
  }));
  const message = { role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls } : {}) };
  const finish_reason = 'refuse' in reply ? 'content_filter' : (end ?? (calls.length > 0 ? 'tool_calls' : 'stop'));
  return {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'stand-in-2026',
    choices: [{ index: 0, message, finish_reason }],
    ...(usage ? { usage: toChatUsage(usage) } : {}),
  };
}
