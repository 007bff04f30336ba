import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { basePath } from '../../../lib/base-path.ts';
import { datasetsQuery, type Dataset } from '../../../api/logs.ts';
import { formatNumber } from '../../../lib/text.ts';
import { texts as all } from '../../../texts/settings.ts';
import { CodeBlock } from '../../../ui/code/code-block.tsx';
import { SelectField, TextField } from '../../../ui/forms/field.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { Loaded } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';

const route = getRouteApi('/shell/settings/sources');
const texts = all.sources;

const countDrifting = ({ columns }: Dataset): number => columns.filter(({ drift }) => drift).length;

const columns: TableColumn<Dataset>[] = [
  {
    header: texts.dataset,
    cell: (dataset) => (
      <>
        <span className="font-mono">{dataset.name}</span>
        {countDrifting(dataset) > 0 && <span className="block text-medium">{texts.drift(countDrifting(dataset))}</span>}
      </>
    ),
  },
  { header: texts.events, isFigure: true, cell: ({ events }) => formatNumber(events) },
  { header: texts.columns, isFigure: true, cell: (dataset) => formatNumber(dataset.columns.length) },
  {
    header: texts.last,
    isFigure: true,
    cell: ({ lastIngestedAt }) => (lastIngestedAt ? <RelativeTime time={lastIngestedAt} /> : texts.never),
  },
];

export function SourcesSection() {
  const query = useQuery(datasetsQuery);
  return (
    <>
      <SettingsSection title={all.sections.sources} description={texts.description}>
        <Loaded query={query}>
          {({ datasets }) =>
            datasets.length === 0 ? (
              <p className="rounded-control border p-4 text-muted">
                <span className="font-strong text-ink">{texts.none}.</span> {texts.noneBody}
              </p>
            ) : (
              <Table label={texts.datasets} columns={columns} rows={datasets} rowKey={({ name }) => name} />
            )
          }
        </Loaded>
      </SettingsSection>
      <SendLogs />
    </>
  );
}

/** Datasets are named as tables: letters, digits and underscores. */
const toDatasetName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, '_')
    .slice(0, 60);

function SendLogs() {
  const { tool = 'curl' } = route.useSearch();
  const navigate = route.useNavigate();
  const [dataset, setDataset] = useState('windows');
  const snippet = snippets[tool] ?? snippets['curl']!;
  return (
    <SettingsSection
      title={texts.send}
      description={
        <>
          {texts.keyHint}{' '}
          <Link to="/settings/keys" className="text-accent underline underline-offset-2">
            {texts.createKey}
          </Link>
        </>
      }
    >
      <div className="grid gap-4 md:grid-cols-2">
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          value={dataset}
          onChange={(event) => setDataset(toDatasetName(event.target.value))}
        />
        <SelectField
          label={texts.tool}
          value={tool in snippets ? tool : 'curl'}
          options={Object.entries(snippets).map(([value, { label }]) => ({ value, label }))}
          onChange={(event) => void navigate({ search: { tool: event.target.value }, replace: true })}
        />
      </div>
      <CodeBlock
        label={snippet.label}
        text={snippet.render({ origin: location.origin + basePath, dataset: dataset || 'windows' })}
      />
    </SettingsSection>
  );
}

type Target = { origin: string; dataset: string };

/** Configurations that send logs to this service, by tool. The key comes from the environment. */
const snippets: Record<string, { label: string; render: (target: Target) => string }> = {
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
