type Target = { origin: string; dataset: string };

/** Configurations that send logs to this service, by tool. The key comes from the environment. */
export const snippets: Record<string, { label: string; render: (target: Target) => string }> = {
  curl: {
    label: 'curl',
    render: ({ origin, dataset }) => `curl ${origin}/api/logs/${dataset} \\
  -H "Authorization: Bearer $TOCSIN_API_KEY" \\
  -H "Content-Type: application/x-ndjson" \\
  --data-binary @events.ndjson`,
  },
  vector: {
    label: 'Vector',
    render: ({ origin, dataset }) => `[sinks.tocsin]
type = "http"
inputs = ["your_source"]
uri = "${origin}/api/logs/${dataset}"
compression = "gzip"
encoding.codec = "json"
framing.method = "newline_delimited"
auth.strategy = "bearer"
auth.token = "\${TOCSIN_API_KEY}"`,
  },
  'fluent-bit': {
    label: 'Fluent Bit',
    render: ({ origin, dataset }) => {
      const { hostname, port, protocol } = new URL(origin);
      const isSecure = protocol === 'https:';
      return `[OUTPUT]
    Name              http
    Match             *
    Host              ${hostname}
    Port              ${port || (isSecure ? 443 : 80)}
    URI               /api/logs/${dataset}
    Format            json_lines
    Json_date_key     _time
    Json_date_format  iso8601
    Header            Authorization Bearer \${TOCSIN_API_KEY}
    Tls               ${isSecure ? 'On' : 'Off'}`;
    },
  },
  logstash: {
    label: 'Logstash',
    render: ({ origin, dataset }) => `output {
  http {
    url => "${origin}/api/logs/${dataset}"
    http_method => "post"
    format => "json_batch"
    headers => { "Authorization" => "Bearer \${TOCSIN_API_KEY}" }
  }
}`,
  },
};
