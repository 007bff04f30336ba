import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { retentionKinds, retentionQuery, type Retention, eraseValue } from '../../../api/access.ts';
import { sessionQuery } from '../../../api/session.ts';
import { formatNumber } from '../../../lib/text.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Loaded } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';
import { TextField } from '../../../ui/forms/field.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';

const RetentionForm = lazy(() => import('./retention-form.tsx'));
const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));

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

/** Erases a value from everything that is stored. */
function EraseValue() {
  // The value to erase is not kept anywhere.
  const [field, setField] = useState('');
  const [value, setValue] = useState('');
  const [isAsking, setIsAsking] = useState(false);
  const erase = async (): Promise<void> => {
    const { logs, hits } = await eraseValue(field.trim(), value);
    toasts.add({ title: texts.erased(logs, hits) });
    setField('');
    setValue('');
  };
  return (
    <SettingsSection title={texts.erase} description={texts.eraseBody}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          setIsAsking(true);
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <TextField
            label={texts.field}
            hint={texts.fieldHint}
            value={field}
            required
            className="font-mono"
            onChange={(event) => setField(event.target.value)}
          />
          <TextField
            label={texts.value}
            hint={texts.valueHint}
            value={value}
            required
            className="font-mono"
            onChange={(event) => setValue(event.target.value)}
          />
        </div>
        <Button kind="danger" type="submit" className="self-start">
          {texts.erase}
        </Button>
      </form>
      <Suspense>
        {isAsking && (
          <ConfirmDialog
            title={texts.confirmTitle}
            action={texts.erase}
            onClose={() => setIsAsking(false)}
            onConfirm={erase}
          >
            {texts.confirmBody(field.trim(), value)}
          </ConfirmDialog>
        )}
      </Suspense>
    </SettingsSection>
  );
}
