import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listen } from '../listen.ts';
import { anthropicMessages } from './protocols/anthropic-messages.ts';
import { bedrock } from './protocols/bedrock.ts';
import { gemini } from './protocols/gemini.ts';
import { openaiChat } from './protocols/openai-chat.ts';
import { openaiResponses } from './protocols/openai-responses.ts';
import type { ProtocolRequest, StreamedReply, WireProtocol } from './protocols/wire-protocol.ts';

/** The stand-in's reaction to one request: a reply or a failure. */
export type ModelReply =
  | StreamedReply
  | { document: StreamedReply }
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | { cut: 'before' | 'within' }
  | { garbage: true }
  | { hang: true };

/** A request, independent of the provider's protocol. */
export type ModelRequestRecord = ProtocolRequest & {
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  raw: string;
};

export type ModelBrain = (asked: ModelRequestRecord, nth: number) => ModelReply | Promise<ModelReply>;
/**
 * `checked` are the second questions of an investigation: those of the verifier about one claim, and the one that confirms a dismissal. They are not in
 * `asked`. Until `check` sets another brain, every claim is supported and every dismissal confirmed.
 */
export type ModelStandIn = {
  url: string;
  asked: ModelRequestRecord[];
  checked: ModelRequestRecord[];
  think: (brain: ModelBrain) => void;
  check: (brain: ModelBrain) => void;
};
export type ServedModel = ModelStandIn & { close: () => Promise<void> };
const protocols = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic: anthropicMessages,
  gemini,
  bedrock,
} satisfies Record<string, WireProtocol>;
export type Protocol = keyof typeof protocols;

/** Answers to the second questions, by what their prompts say. */
const agreement: [RegExp, unknown][] = [
  [/^You check one claim/, { reason: 'The cells say so.', answer: 'supported' }],
  [/Conclude a case:/, { reason: 'It is explained.', verdict: 'dismiss' }],
];
const findAgreement = ({ system }: { system: string }): unknown =>
  agreement.find(([prompt]) => prompt.test(system))?.[1];

/** Starts an HTTP server that speaks a provider's protocol, streams, and responds as its brain decides. */
export async function serveModelStandIn(protocol: Protocol, first?: ModelBrain): Promise<ServedModel> {
  const asked: ModelRequestRecord[] = [];
  const checked: ModelRequestRecord[] = [];
  const wire: WireProtocol = protocols[protocol];
  let brain: ModelBrain = first ?? (() => ({ text: 'ready' }));
  let checker: ModelBrain = (asked) => {
    const [name] = asked.tools;
    const input = findAgreement(asked);
    return name === undefined ? { text: JSON.stringify(input) } : { calls: [{ name, input }] };
  };
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
      ...wire.read(body, request.url ?? ''),
    };
    const isCheck = findAgreement(seen) !== undefined;
    (isCheck ? checked : asked).push(seen);
    const reply = isCheck ? await checker(seen, checked.length) : await brain(seen, asked.length);
    if ('hang' in reply) return;
    if ('status' in reply) {
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(
        JSON.stringify(reply.body ?? { error: { type: 'error', message: `stand-in says ${reply.status}` } }),
      );
      return;
    }
    if ('cut' in reply && reply.cut === 'before') return void response.destroy();
    if ('document' in reply) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(wire.document!(reply.document)));
      return;
    }
    response.writeHead(200, { 'content-type': wire.contentType ?? 'text/event-stream' });
    if ('garbage' in reply) return void response.end('data: {"this is": not json\n\ndata: [DONE]\n\n');
    const events = 'cut' in reply ? wire.stream({ text: 'I begin and' }).slice(0, -2) : wire.stream(reply);
    for (const event of events) response.write(event);
    if ('cut' in reply) setTimeout(() => response.destroy(), 20);
    else response.end();
  }
  const url = `${await listen(server)}/v1`;
  return {
    url,
    asked,
    checked,
    think: (next) => (brain = next),
    check: (next) => (checker = next),
    close: () => closeServer(server),
  };
}
