import { setTimeout as sleep } from 'node:timers/promises';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import type { Logger } from './logger.ts';
import { createOutboundAgent } from '../outbound-http/proxy.ts';
import { packageVersion } from '../program-files.ts';

const problemMaxChars = 500;
const stopMaxMs = 5_000;

/** `stop` sends the spans that are still waiting, if the collector accepts them soon. Does not reject. */
export type Tracing = { stop: () => Promise<void> };

/**
 * Records spans and sends them over OTLP. The SDK reads the rest from OpenTelemetry's standard variables, such as endpoint, headers, sampler
 * and batch sizes. Its packages are loaded only here, because they take time.
 */
export async function startTracing(log: Logger): Promise<Tracing> {
  const warn = (message: string): void =>
    log.warn({ problem: message.slice(0, problemMaxChars) }, 'traces are not sent');
  diag.setLogger({ error: warn, warn, info: warn, debug: warn, verbose: warn }, DiagLogLevel.WARN);
  const { NodeTracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-node');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  const { detectResources, defaultResource, envDetector, resourceFromAttributes } =
    await import('@opentelemetry/resources');
  const agent = createOutboundAgent();
  const own = resourceFromAttributes({ 'service.name': 'tocsin', 'service.version': packageVersion });
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(agent ? { httpAgentOptions: () => agent } : {}))],
  });
  provider.register();
  // It rejects if the collector does not take the last spans, which the exporter has reported by then.
  const shutDown = (): Promise<void> => provider.shutdown().catch(() => undefined);
  return { stop: () => Promise.race([shutDown(), sleep(stopMaxMs, undefined, { ref: false })]) };
}
