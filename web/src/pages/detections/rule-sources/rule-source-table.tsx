import type { RuleSource } from '../../../api/rule-sources.ts';
import { formatNumber } from '../../../lib/text.ts';
import { texts } from '../../../texts/rule-sources.ts';
import { DataTable, type Column } from '../../../ui/lists/data-table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { RuleSourceState } from './rule-source-view.tsx';

const dash = <span className="text-faint">–</span>;

const columns: Column<RuleSource>[] = [
  {
    id: 'name',
    header: texts.name,
    width: 'minmax(8rem, 1fr)',
    cell: ({ name }) => (
      <span title={name} className="text-13">
        {name}
      </span>
    ),
  },
  {
    id: 'address',
    header: texts.address,
    width: 'minmax(8rem, 20rem)',
    from: 900,
    cell: ({ url }) => (
      <span title={url} className="font-mono text-muted">
        {url}
      </span>
    ),
  },
  {
    id: 'rules',
    header: texts.rules,
    width: '5rem',
    align: 'right',
    from: 380,
    cell: ({ rules }) => (rules === 0 ? dash : formatNumber(rules)),
  },
  {
    id: 'version',
    header: texts.version,
    width: '8rem',
    from: 680,
    cell: ({ version }) => (version === null ? dash : <span className="font-mono text-muted">{version}</span>),
  },
  { id: 'state', header: texts.state, width: '7rem', cell: (source) => <RuleSourceState source={source} /> },
  {
    id: 'lastCheck',
    header: texts.lastCheck,
    width: '6rem',
    align: 'right',
    from: 560,
    cell: ({ checkedAt }) => (
      <span className="text-muted">{checkedAt === null ? dash : <RelativeTime time={checkedAt} />}</span>
    ),
  },
];

type Props = { sources: RuleSource[]; openId: string | undefined; onOpen: (id: string) => void };

export const RuleSourceTable = ({ sources, openId, onOpen }: Props) => (
  <DataTable
    label={texts.title}
    rows={sources}
    columns={columns}
    rowId={({ id }) => id}
    rowLabel={({ name }) => name}
    activeId={openId}
    onOpen={({ id }) => onOpen(id)}
  />
);
