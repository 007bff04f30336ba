import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import {
  deleteEnricher,
  enrichersQuery,
  saveEnricher,
  type Enricher,
  type EnricherInput,
  type EnricherKind,
} from '../../api/enrichers.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/enrichers.ts';
import { texts as settings } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, findFieldError, FormError, SelectField, TextField } from '../../ui/forms/field.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { Badge, Loaded, Row, Rows } from '../../ui/lists/rows.tsx';
import { Dialog, DialogActions } from '../../ui/overlays/dialog.tsx';
import { readFields, toTexts, toValues } from './kind-fields.ts';
import { KindInputs } from './kind-inputs.tsx';
import { SettingsSection } from './section.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

const ConfirmDialog = lazy(() => import('../../ui/overlays/confirm-dialog.tsx'));

type Open = { kind: 'new' } | { kind: 'edit' | 'delete'; enricher: Enricher };

/** The services that are asked about addresses, domains and hashes of cases and indicators. */
export function EnrichersSection() {
  const query = useQuery(enrichersQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const { mutateAsync: remove } = useChange({
    change: (name: string) => deleteEnricher(name),
    refresh: [enrichersQuery.queryKey],
    done: ({ name }) => texts.removed(name),
    failed: texts.notRemoved,
  });
  return (
    <SettingsSection
      title={settings.sections.enrichers}
      description={texts.description}
      action={
        <Button kind="primary" onClick={() => setOpen({ kind: 'new' })}>
          {texts.create}
        </Button>
      }
    >
      <Loaded query={query}>
        {({ enrichers, kinds }) =>
          enrichers.length === 0 ? (
            <p className="text-muted">{texts.none}</p>
          ) : (
            <Rows label={settings.sections.enrichers}>
              {enrichers.map((enricher) => (
                <EnricherRow key={enricher.name} {...{ enricher, kinds }} onOpen={setOpen} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      {query.data && open?.kind === 'new' && <EnricherDialog kinds={query.data.kinds} onClose={close} />}
      {query.data && open?.kind === 'edit' && (
        <EnricherDialog kinds={query.data.kinds} enricher={open.enricher} onClose={close} />
      )}
      <Suspense>
        {open?.kind === 'delete' && (
          <ConfirmDialog
            title={texts.removeTitle(open.enricher.name)}
            action={common.remove}
            onClose={close}
            onConfirm={() => remove(open.enricher.name)}
          >
            {texts.removeBody}
          </ConfirmDialog>
        )}
      </Suspense>
    </SettingsSection>
  );
}

type RowProps = { enricher: Enricher; kinds: readonly EnricherKind[]; onOpen: (open: Open) => void };

function EnricherRow({ enricher, kinds, onOpen }: RowProps) {
  const { name, kind, settings: own, enabled, usedToday, perDay, failure } = enricher;
  const address = own['url'] ?? own['server'];
  return (
    <Row
      title={<span className="font-mono text-12">{name}</span>}
      badge={!enabled ? <Badge>{texts.off}</Badge> : failure !== null && <Badge isBad>{texts.failing}</Badge>}
      detail={
        <>
          {kinds.find((one) => one.kind === kind)?.label}
          {address !== undefined && <span className="block break-all">{String(address)}</span>}
          <span className="block">{texts.used(usedToday, perDay)}</span>
          {failure !== null && <span className="block text-bad">{failure}</span>}
        </>
      }
      actions={
        <>
          <Button aria-label={`${texts.edit} ${name}`} onClick={() => onOpen({ kind: 'edit', enricher })}>
            {texts.edit}
          </Button>
          <Button
            kind="quiet"
            aria-label={`${common.remove} ${name}`}
            onClick={() => onOpen({ kind: 'delete', enricher })}
          >
            {common.remove}
          </Button>
        </>
      }
    />
  );
}

const numbers = ['perMinute', 'perDay', 'cacheHours', 'costUsd'] as const;
type Values = Record<string, string>;
type DialogProps = { kinds: readonly EnricherKind[]; enricher?: Enricher; onClose: () => void };

/** Adds or changes an enricher. The fields follow its kind, as the API describes it. */
function EnricherDialog({ kinds, enricher, onClose }: DialogProps) {
  const [{ name, kindName, settings, credentials, limits, enabled }, setValues, draft] = useDraft(
    `enricher ${enricher?.name ?? ''}`,
    {
      name: enricher?.name ?? '',
      kindName: enricher?.kind ?? kinds[0]!.kind,
      settings: toTexts(enricher?.settings ?? {}),
      credentials: {} as Values,
      limits: enricher ? toTexts(Object.fromEntries(numbers.map((one) => [one, enricher[one]]))) : ({} as Values),
      enabled: enricher?.enabled ?? true,
    },
    ['credentials'],
  );
  const kind = kinds.find((one) => one.kind === kindName) ?? kinds[0]!;
  const [fields, secrets] = [readFields(kind.settings), readFields(kind.credentials)];
  const { mutate, isPending, error } = useChange({
    change: (body: EnricherInput) => saveEnricher(name.trim(), body),
    refresh: [enrichersQuery.queryKey],
    done: (saved) => texts.saved(saved.name),
    draft,
  });
  const setIn = (part: 'settings' | 'credentials' | 'limits') => (field: string, value: string) =>
    setValues((values) => ({ [part]: { ...values[part], [field]: value } }));
  const save = (): void => {
    const given = toValues(secrets, credentials);
    mutate(
      {
        kind: kind.kind,
        settings: toValues(fields, settings),
        ...(Object.keys(given).length > 0 && { credentials: given }),
        ...Object.fromEntries(numbers.flatMap((one) => (limits[one] ? [[one, Number(limits[one])]] : []))),
        enabled,
      } as EnricherInput,
      { onSuccess: onClose },
    );
  };
  return (
    <Dialog title={enricher ? texts.editTitle(enricher.name) : texts.create} isWide onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <TextField
            label={texts.fields.name}
            error={findFieldError(error, 'path/name')}
            value={name}
            required
            autoFocus
            disabled={enricher !== undefined}
            onChange={({ target }) => setValues({ name: target.value })}
          />
          <SelectField
            label={texts.kind}
            hint={kind.description}
            value={kind.kind}
            options={kinds.map((one) => ({ value: one.kind, label: one.label }))}
            onChange={({ target }) => setValues({ kindName: target.value as Enricher['kind'] })}
          />
          <KindInputs {...{ fields, error }} values={settings} pointer="/settings" onChange={setIn('settings')} />
          <KindInputs
            fields={secrets.map((one) => ({ ...one, ...(enricher?.hasCredentials && { hint: texts.kept }) }))}
            error={error}
            values={credentials}
            pointer="/credentials"
            isSecret
            onChange={setIn('credentials')}
          />
          {numbers.map((one) => (
            <TextField
              key={one}
              label={texts.fields[one]}
              error={findFieldError(error, `/${one}`)}
              hint={texts.numbersHint}
              value={limits[one] ?? ''}
              inputMode="decimal"
              onChange={({ target }) => setIn('limits')(one, target.value)}
            />
          ))}
        </div>
        <CheckField label={texts.enabled} checked={enabled} onChange={() => setValues({ enabled: !enabled })} />
        <FormError
          error={error}
          shown={[
            'path/name',
            ...fields.map((one) => `/settings/${one.name}`),
            ...secrets.map((one) => `/credentials/${one.name}`),
            ...numbers.map((one) => `/${one}`),
          ]}
        />
        <RestoredDraft draft={draft} />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" disabled={isPending}>
            {texts.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
