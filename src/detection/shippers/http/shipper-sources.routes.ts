import { z } from 'zod';
import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';

const LogSources = z.object({
  sources: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      path: z.string().describe('The address of the protocol, below that of the service.'),
      configuration: z.string(),
    }),
  ),
});

export function shipperSourceRoutes(app: App): void {
  const route = apiRoutes(app, { tag: 'logs', scope: 'detections:read' });
  route(
    'GET /api/logs/sources',
    {
      operationId: 'listLogShippers',
      summary: 'List log shippers with their configuration',
      description:
        'Each configuration is complete but for the address (`https://tocsin.example:443`), the key (`KEY`, with the scope `logs:write`) and what the shipper reads.',
      returns: LogSources,
    },
    () => ({ sources: [...shipperSources] }),
  );
}

/** A log shipper with the configuration that makes it send to Tocsin. docs/guide/send-logs.md has the same texts. */
type ShipperSource = { id: string; name: string; path: string; configuration: string };

/** `https://tocsin.example:443` is the address of the service and `KEY` a key with the scope `logs:write`. */
export const shipperSources: readonly ShipperSource[] = [
  {
    id: 'filebeat',
    name: 'Filebeat',
    path: '/elasticsearch',
    configuration: `output.elasticsearch:
  hosts: ["https://tocsin.example:443/elasticsearch"]
  api_key: "shipper:KEY"
setup.template.enabled: false
setup.ilm.enabled: false
`,
  },
  {
    id: 'logstash',
    name: 'Logstash',
    path: '/elasticsearch',
    configuration: `output {
  elasticsearch {
    hosts => ["https://tocsin.example:443/elasticsearch"]
    user => "shipper"
    password => "KEY"
    index => "web-%{+YYYY.MM.dd}"
    manage_template => false
    ilm_enabled => false
  }
}
`,
  },
  {
    id: 'vector',
    name: 'Vector',
    path: '/elasticsearch',
    configuration: `sinks:
  tocsin:
    type: elasticsearch
    inputs: [my_source]
    endpoints: ["https://tocsin.example:443/elasticsearch"]
    api_version: v8
    auth: { strategy: basic, user: shipper, password: KEY }
    compression: gzip
    bulk: { index: "web-%Y.%m.%d" }
`,
  },
  {
    id: 'fluent-bit',
    name: 'Fluent Bit',
    path: '/elasticsearch',
    configuration: `[OUTPUT]
    Name               es
    Match              *
    Host               tocsin.example
    Port               443
    Path               /elasticsearch
    tls                On
    HTTP_User          shipper
    HTTP_Passwd        KEY
    Index              web
    Suppress_Type_Name On
    Compress           gzip
`,
  },
  {
    id: 'rsyslog',
    name: 'rsyslog',
    path: '/elasticsearch',
    configuration: `module(load="omelasticsearch")
template(name="tocsin" type="list" option.jsonf="on") {
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="host" name="hostname" format="jsonf")
  property(outname="program" name="programname" format="jsonf")
  property(outname="message" name="msg" format="jsonf")
}
action(type="omelasticsearch" server="https://tocsin.example:443/elasticsearch" uid="shipper" pwd="KEY"
       template="tocsin" searchIndex="syslog" searchType="" bulkmode="on" action.resumeRetryCount="-1")
`,
  },
  {
    id: 'syslog-ng',
    name: 'syslog-ng',
    path: '/elasticsearch',
    configuration: `options { use-uniqid(yes); time-reopen(5); };
destination d_tocsin {
  http(
    url("https://tocsin.example:443/elasticsearch/_bulk")
    user("shipper") password("KEY") headers("Content-Type: application/x-ndjson")
    body('{"create":{"_index":"syslog","_id":"\${UNIQID}"}}
$(format-json --pair @timestamp="$ISODATE" --pair host="$HOST" --pair program="$PROGRAM" --pair message="$MESSAGE")')
    delimiter("\\n") body-suffix("\\n") batch-lines(500) batch-timeout(1000) retries(1000000)
  );
};
`,
  },
  {
    id: 'opentelemetry-collector',
    name: 'OpenTelemetry Collector',
    path: '/v1/logs',
    configuration: `exporters:
  otlphttp:
    endpoint: https://tocsin.example:443
    headers: { authorization: "Bearer KEY" }
`,
  },
  {
    id: 'promtail',
    name: 'Promtail',
    path: '/loki/api/v1/push',
    configuration: `clients:
  - url: https://tocsin.example:443/loki/api/v1/push
    basic_auth: { username: shipper, password: KEY }
`,
  },
];
