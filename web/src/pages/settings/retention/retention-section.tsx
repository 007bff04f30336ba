import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { retentionKinds, retentionQuery, type Retention } from '../../../api/access.ts';
import { sessionQuery } from '../../../api/session.ts';
import { formatNumber } from '../../../lib/text.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Loaded } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';
import { EraseValue } from './erase-value.tsx';

const RetentionForm = lazy(() => import('./retention-form.tsx'));

const texts = all.retention;
type Period = { kind: keyof typeof texts.kinds; days: number; allowed: number; isOwn: boolean };

const columns: TableColumn<Period>[] = [
  { header: texts.kind, cell: ({ kind }) => texts.kinds[kind] },
  { header: texts.days, isFigure: true, cell: ({ days }) => formatNumber(days) },
  { header: texts.allowed, isFigure: true, cell: ({ allowed }) => formatNumber(allowed) },
  {
    header: texts.setBy,
    cell: ({ isOwn }) => (
      <span className={isOwn ? '' : 'text-muted'}>{isOwn ? texts.byOrganization : texts.byOperator}</span>
    ),
  },
];

const toPeriods = ({ allowed, own, ...keep }: Retention): Period[] => [
  ...retentionKinds.map((kind) => ({
    kind,
    days: keep[kind],
    allowed: allowed[kind],
    isOwn: own[kind] !== null && own[kind] <= allowed[kind],
  })),
  ...(['outboxDays', 'auditDays'] as const).map((kind) => ({
    kind,
    days: keep[kind],
    allowed: allowed[kind],
    isOwn: false,
  })),
];

/** How long data is kept, and erasing a value from all of it. */
export function RetentionSection() {
  const query = useQuery(retentionQuery);
  const { data: session } = useQuery(sessionQuery);
  const [isChanging, setIsChanging] = useState(false);
  const mayChange = session?.scopes.includes('privacy:admin') ?? false;
  return (
    <>
      <SettingsSection
        title={all.sections.retention}
        description={texts.description}
        action={mayChange && query.data && <Button onClick={() => setIsChanging(true)}>{texts.change}</Button>}
      >
        <Loaded query={query}>
          {(retention) => (
            <Table
              label={all.sections.retention}
              columns={columns}
              rowKey={({ kind }) => kind}
              rows={toPeriods(retention)}
            />
          )}
        </Loaded>
      </SettingsSection>
      <EraseValue />
      <Suspense>
        {isChanging && query.data && <RetentionForm retention={query.data} onClose={() => setIsChanging(false)} />}
      </Suspense>
    </>
  );
}
