import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import {
  deleteEnricher,
  enrichersQuery,
  saveEnricher,
  type Enricher,
  type EnricherInput,
} from '../../api/enrichers.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/enrichers.ts';
import { texts as settings } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, findFieldError, FormError, SelectField, TextField } from '../../ui/forms/field.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { Badge, Loaded, Row, Rows } from '../../ui/lists/rows.tsx';
import { Dialog, DialogActions } from '../../ui/overlays/dialog.tsx';
import { SettingsSection } from './section.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

const ConfirmDialog = lazy(() => import('../../ui/overlays/confirm-dialog.tsx'));

type Open = { kind: 'new' } | { kind: 'edit' | 'delete'; enricher: Enricher };

/** Who is asked about addresses, domains and hashes of cases and indicators. */
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
        {(enrichers) =>
          enrichers.length === 0 ? (
            <p className="text-muted">{texts.none}</p>
          ) : (
            <Rows label={settings.sections.enrichers}>
              {enrichers.map((enricher) => (
                <EnricherRow key={enricher.name} enricher={enricher} onOpen={setOpen} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      {open?.kind === 'new' && <EnricherDialog onClose={close} />}
      {open?.kind === 'edit' && <EnricherDialog enricher={open.enricher} onClose={close} />}
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

function EnricherRow({ enricher, onOpen }: { enricher: Enricher; onOpen: (open: Open) => void }) {
  const { name, kind, settings: own, enabled, usedToday, perDay, failure } = enricher;
  const address = own['url'] ?? own['server'];
  return (
    <Row
      title={<span className="font-mono text-12">{name}</span>}
      badge={!enabled ? <Badge>{texts.off}</Badge> : failure !== null && <Badge isBad>{texts.failing}</Badge>}
      detail={
        <>
          {texts.kinds[kind]}
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

const textsOf = (enricher: Enricher | undefined) => ({
  name: enricher?.name ?? '',
  url: String(enricher?.settings['url'] ?? ''),
  fields: ((enricher?.settings['fields'] as string[] | undefined) ?? []).join(', '),
  header: String(enricher?.settings['header'] ?? ''),
  headerValue: '',
  server: String(enricher?.settings['server'] ?? ''),
  perDay: String(enricher?.perDay ?? 1000),
  perMinute: String(enricher?.perMinute ?? 60),
  cacheHours: String(enricher?.cacheHours ?? 24),
  costUsd: String(enricher?.costUsd ?? 0),
});
const types = ['ip', 'domain', 'hash'] as const;
const numbers = ['perMinute', 'perDay', 'cacheHours', 'costUsd'] as const;

function EnricherDialog({ enricher, onClose }: { enricher?: Enricher; onClose: () => void }) {
  const [{ kind, chosen, enabled, ...values }, setValues, draft] = useDraft(
    `enricher ${enricher?.name ?? ''}`,
    {
      ...textsOf(enricher),
      kind: enricher?.kind ?? 'http',
      chosen: (enricher?.settings['types'] as string[] | undefined) ?? ['ip'],
      enabled: enricher?.enabled ?? true,
    },
    ['headerValue'],
  );
  const { mutate, isPending, error } = useChange({
    change: (body: EnricherInput) => saveEnricher(values.name.trim(), body),
    refresh: [enrichersQuery.queryKey],
    done: ({ name }) => texts.saved(name),
    draft,
  });
  const field = (name: keyof typeof values, pointer: string) => ({
    label: texts.fields[name],
    error: findFieldError(error, pointer),
    value: values[name],
    onChange: ({ target }: { target: { value: string } }) => setValues({ [name]: target.value }),
  });
  const optional = (name: 'header' | 'server') => values[name].trim() !== '' && { [name]: values[name].trim() };
  const names = values.fields.split(',').map((name) => name.trim());
  const save = (): void =>
    mutate(
      {
        kind,
        settings:
          kind === 'dns'
            ? { ...optional('server') }
            : {
                url: values.url.trim(),
                types: chosen,
                fields: names.filter((name) => name !== ''),
                ...optional('header'),
              },
        ...(kind === 'http' && values.headerValue !== '' && { credentials: { headerValue: values.headerValue } }),
        perMinute: Number(values.perMinute),
        perDay: Number(values.perDay),
        cacheHours: Number(values.cacheHours),
        costUsd: Number(values.costUsd),
        enabled,
      },
      { onSuccess: onClose },
    );
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
          <TextField {...field('name', 'path/name')} required autoFocus disabled={enricher !== undefined} />
          <SelectField
            label={texts.kind}
            value={kind}
            options={Object.entries(texts.kinds).map(([value, label]) => ({ value, label }))}
            onChange={({ target }) => setValues({ kind: target.value as Enricher['kind'] })}
          />
          {kind === 'dns' ? (
            <TextField {...field('server', '/settings/server')} hint={texts.serverHint} />
          ) : (
            <>
              <TextField {...field('url', '/settings/url')} hint={texts.urlHint} required />
              <TextField {...field('fields', '/settings/fields')} hint={texts.fieldsHint} required />
              <TextField {...field('header', '/settings/header')} hint={texts.headerHint} />
              <TextField
                {...field('headerValue', '/credentials')}
                hint={enricher?.hasCredentials ? texts.kept : undefined}
                type="password"
                autoComplete="new-password"
              />
            </>
          )}
          {numbers.map((name) => (
            <TextField key={name} {...field(name, `/${name}`)} inputMode="decimal" required />
          ))}
        </div>
        {kind === 'http' && (
          <fieldset className="flex flex-wrap gap-x-6 gap-y-1.5">
            <legend className="pb-1.5 text-12 text-muted">{texts.types}</legend>
            {types.map((type) => (
              <CheckField
                key={type}
                label={texts.typeNames[type]}
                checked={chosen.includes(type)}
                onChange={() => setValues({ chosen: types.filter((one) => (one === type) !== chosen.includes(one)) })}
              />
            ))}
          </fieldset>
        )}
        <CheckField label={texts.enabled} checked={enabled} onChange={() => setValues({ enabled: !enabled })} />
        <FormError
          error={error}
          shown={[
            'path/name',
            '/settings/url',
            '/settings/fields',
            '/settings/header',
            '/settings/server',
            '/credentials',
            ...numbers.map((name) => `/${name}`),
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
