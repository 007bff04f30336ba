import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import {
  deleteValueList,
  saveValueList,
  valueListQuery,
  valueListsQuery,
  type ValueList,
  type ValueListInput,
} from '../../api/detection-parts.ts';
import { texts } from '../../texts/lists.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as settings } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { findFieldError, FormError, TextArea, TextField } from '../../ui/forms/field.tsx';
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { Badge, Loaded, Row, Rows } from '../../ui/lists/rows.tsx';
import { Dialog, DialogActions } from '../../ui/overlays/dialog.tsx';
import { toasts } from '../../ui/overlays/toasts.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { SourceFields, toContent, toValues, type Origin } from './list-source.tsx';
import { SettingsSection } from './section.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

const ConfirmDialog = lazy(() => import('../../ui/overlays/confirm-dialog.tsx'));

type Summary = Omit<ValueList, 'values' | 'rows'>;
type Open = { kind: 'new' } | { kind: 'edit' | 'delete'; list: Summary };

/** The value lists of the organization: who and what it has, for queries, exceptions and agents. */
export function ListsSection() {
  const query = useQuery(valueListsQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const client = useQueryClient();
  const remove = async (list: Summary): Promise<void> => {
    await deleteValueList(list);
    toasts.add({ title: texts.removed(list.name) });
    await client.invalidateQueries({ queryKey: valueListsQuery.queryKey });
  };
  return (
    <SettingsSection
      title={settings.sections.lists}
      description={texts.description}
      action={
        <Button kind="primary" onClick={() => setOpen({ kind: 'new' })}>
          {texts.create}
        </Button>
      }
    >
      <Loaded query={query}>
        {(lists) =>
          lists.length === 0 ? (
            <p className="text-muted">{texts.none}</p>
          ) : (
            <Rows label={settings.sections.lists}>
              {lists.map((list) => (
                <ListRow key={list.name} list={list} onOpen={setOpen} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      {open?.kind === 'new' && <ListDialog onClose={close} />}
      {open?.kind === 'edit' && <EditDialog name={open.list.name} onClose={close} />}
      <Suspense>
        {open?.kind === 'delete' && (
          <ConfirmDialog
            title={texts.removeTitle(open.list.name)}
            action={texts.remove}
            onClose={close}
            onConfirm={() => remove(open.list)}
          >
            {texts.removeBody}
          </ConfirmDialog>
        )}
      </Suspense>
    </SettingsSection>
  );
}

function ListRow({ list, onOpen }: { list: Summary; onOpen: (open: Open) => void }) {
  const { name, description, columns, valuesTotal, source, usedBy } = list;
  const failure = source?.failure ?? null;
  return (
    <Row
      title={<span className="font-mono text-12">{name}</span>}
      badge={failure !== null && <Badge isBad>{texts.failing}</Badge>}
      detail={
        <>
          {description}
          <span className="block pt-1">
            {[texts.rows(valuesTotal), columns.join(', '), texts.usedBy(usedBy.length)].join(' · ')}
          </span>
          {source && (
            <span className="block break-all">
              {'url' in source ? source.url : source.query} ·{' '}
              {source.checkedAt ? <RelativeTime time={source.checkedAt} /> : texts.waiting}
            </span>
          )}
          {failure !== null && <span className="block text-bad">{failure}</span>}
        </>
      }
      actions={
        <>
          <Button aria-label={`${texts.edit} ${name}`} onClick={() => onOpen({ kind: 'edit', list })}>
            {texts.edit}
          </Button>
          <Button kind="quiet" aria-label={`${texts.remove} ${name}`} onClick={() => onOpen({ kind: 'delete', list })}>
            {texts.remove}
          </Button>
        </>
      }
    />
  );
}

/** Loads the rows of a list before they are edited. */
function EditDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const { data } = useQuery(valueListQuery(name));
  return data && <ListDialog list={data} onClose={onClose} />;
}

const shownFields = [
  '/csv',
  '/columns',
  '/source/url',
  '/source/query',
  '/source/spanHours',
  '/source/everyHours',
  'path/name',
];

function ListDialog({ list, onClose }: { list?: ValueList; onClose: () => void }) {
  const [values, setValues, draft] = useDraft(`list ${list?.name ?? ''}`, toValues(list));
  const { name, description, from, csv } = values;
  const { mutate, isPending, error } = useChange({
    change: (body: ValueListInput) => saveValueList(name.trim(), list, body),
    refresh: [valueListsQuery.queryKey],
    done: (saved) => texts.saved(saved.name),
    draft,
  });
  const save = (): void => mutate({ description, ...toContent(values) }, { onSuccess: onClose });
  return (
    <Dialog isWide title={list ? texts.editTitle(list.name) : texts.create} onClose={onClose}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        {!list && (
          <TextField
            label={texts.name}
            hint={texts.nameHint}
            required
            className="font-mono text-12"
            value={name}
            onChange={({ target }) => setValues({ name: target.value })}
            error={findFieldError(error, 'path/name')}
          />
        )}
        <TextField
          label={texts.about}
          value={description}
          onChange={({ target }) => setValues({ description: target.value })}
        />
        <SegmentedControl<Origin>
          label={texts.from}
          options={texts.origins}
          value={from}
          onChange={(next) => setValues({ from: next })}
        />
        {from === 'rows' ? (
          <>
            <TextArea
              label={texts.csv}
              hint={texts.csvHint}
              required
              rows={10}
              className="font-mono text-12"
              value={csv}
              onChange={({ target }) => setValues({ csv: target.value })}
              error={findFieldError(error, '/csv')}
            />
            <label className="flex flex-col gap-1 text-12 text-muted">
              {texts.file}
              <input
                type="file"
                accept=".csv,text/csv,text/plain"
                onChange={({ target }) => void target.files?.[0]?.text().then((text) => setValues({ csv: text }))}
              />
            </label>
          </>
        ) : (
          <SourceFields values={values} onChange={setValues} error={error} />
        )}
        <FormError error={error} shown={shownFields} />
        <RestoredDraft draft={draft} />
        <DialogActions>
          <Button kind="quiet" onClick={onClose}>
            {common.cancel}
          </Button>
          <Button kind="primary" type="submit" disabled={isPending}>
            {texts.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
