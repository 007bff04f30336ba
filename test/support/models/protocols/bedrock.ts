import { crc32 } from 'node:zlib';
import { argsOf, callId, defaultUsage, demanded, pieces, type Json, type WireProtocol } from './wire-protocol.ts';

/** Encodes a message of `application/vnd.amazon.eventstream`: lengths, headers, payload and checksums. */
function encodeEvent(type: string, payload: Json): Buffer {
  const headers = Buffer.concat(
    Object.entries({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }).map(
      ([name, value]) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(value.length);
        return Buffer.concat([
          Buffer.from([name.length]),
          Buffer.from(name),
          Buffer.from([7]),
          length,
          Buffer.from(value),
        ]);
      },
    ),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(message));
  return Buffer.concat([message, checksum]);
}

const textOf = (content: Json[] = []): string =>
  content.map((part) => part.text ?? textOf(part.toolResult?.content)).join('');

/** The converse stream of Bedrock, a binary stream of events. */
export const bedrock: WireProtocol = {
  contentType: 'application/vnd.amazon.eventstream',
  read: (body) => {
    const tools: string[] = (body.toolConfig?.tools ?? []).flatMap((tool: Json) => tool.toolSpec?.name ?? []);
    const choice = body.toolConfig?.toolChoice;
    return {
      system: textOf(body.system),
      turns: body.messages.map((one: Json) => ({ role: one.role, text: textOf(one.content) })),
      tools,
      forced: demanded(choice?.tool?.name, choice?.any !== undefined, tools),
    };
  },
  stream: (reply) => {
    const { text = '', calls = [], usage = defaultUsage, end } = 'refuse' in reply ? {} : reply;
    const stop =
      'refuse' in reply ? 'content_filtered' : end ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
    const cached = usage?.cached ?? 0;
    const written = usage?.cacheWritten ?? 0;
    return [
      encodeEvent('messageStart', { role: 'assistant' }),
      ...pieces(text).map((part) => encodeEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: part } })),
      ...(text ? [encodeEvent('contentBlockStop', { contentBlockIndex: 0 })] : []),
      ...calls.flatMap((call, at) => {
        const contentBlockIndex = at + 1;
        const toolUse = { toolUseId: callId(at), name: call.name };
        return [
          encodeEvent('contentBlockStart', { contentBlockIndex, start: { toolUse } }),
          ...pieces(argsOf(call)).map((input) =>
            encodeEvent('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input } } }),
          ),
          encodeEvent('contentBlockStop', { contentBlockIndex }),
        ];
      }),
      encodeEvent('messageStop', { stopReason: stop }),
      ...(usage
        ? [
            encodeEvent('metadata', {
              metrics: { latencyMs: 1 },
              usage: {
                inputTokens: usage.input - cached - written,
                outputTokens: usage.output,
                totalTokens: usage.input + usage.output,
                cacheReadInputTokens: cached,
                cacheWriteInputTokens: written,
              },
            }),
          ]
        : []),
    ];
  },
};
