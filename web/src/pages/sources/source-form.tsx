import { useMutation, useQuery } from '@tanstack/react-query';
import { catalogueQuery, testSource, type Source } from '../../api/sources.ts';
import { texts } from '../../texts/sources.ts';
import { Button } from '../../ui/button.tsx';
import { findFieldError, FormError, SelectField, TextField } from '../../ui/forms/field.tsx';
import { toTested, type SourceDraft, type Access } from './source-draft.ts';
import { TestResult } from './test-result.tsx';
import { type Draft, RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

type Props = {
  initial: SourceDraft;
  /** The source that is edited. Without it, the form is that of a new one. */
  source?: Source;
  isPending: boolean;
  error: Error | null;
  onSave: (draft: SourceDraft, kept: Draft) => void;
};

const tlps = ['CLEAR', 'GREEN', 'AMBER', 'AMBER+STRICT', 'RED'].map((value) => ({ value, label: `TLP:${value}` }));
const kinds = Object.entries(texts.kinds).map(([value, label]) => ({ value, label }));
const shown = ['/name', '/url', '/publisher', '/tlp', '/schedule', '/reliability', '/sightings/url'];

/** The fields of a source, which can be tested before it is saved. */
export function SourceForm({ initial, source, isPending, error, onSave }: Props) {
  const [draft, set, kept] = useDraft(`source ${source?.id ?? ''}`, initial, ['secret']);
  const test = useMutation({ mutationFn: () => testSource(toTested(draft, source?.id)) });
  const { data: catalogue } = useQuery(catalogueQuery);
  const sightings = catalogue?.sightings.find(({ kind }) => kind === draft.kind && source?.visibility !== 'shared');
  const field = (name: Exclude<keyof SourceDraft, 'kind' | 'access'>) => ({
    value: draft[name],
    onChange: (event: { target: { value: string } }) => set({ [name]: event.target.value }),
    error: findFieldError(error, `/${name}`) ?? (name === 'url' ? findFieldError(test.error, '/url') : undefined),
  });
  const more = (
    <div className="grid gap-3 md:grid-cols-2">
      <TextField label={texts.publisher} {...field('publisher')} />
      <SelectField label={texts.sharing} options={[{ value: '', label: texts.unmarked }, ...tlps]} {...field('tlp')} />
      <TextField
        label={texts.schedule}
        hint={texts.scheduleHint}
        className="font-mono text-12"
        {...field('schedule')}
      />
      <TextField label={texts.reliabilityUnit} type="number" {...field('reliability')} />
      <TextField label={texts.include} hint={texts.wordsHint} {...field('include')} />
      <TextField label={texts.exclude} hint={texts.wordsHint} {...field('exclude')} />
      {sightings && (
        <>
          <TextField
            label={texts.sightings}
            hint={sightings.urlHint}
            placeholder={texts.sightingsOff}
            className="font-mono text-12"
            {...field('sightingsUrl')}
            error={findFieldError(error, '/sightings/url')}
          />
          <SelectField label={texts.sightingsMax} options={tlps} {...field('tlpMax')} />
        </>
      )}
    </div>
  );
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(draft, kept);
      }}
    >
      {!source && (
        <SelectField
          label={texts.kind}
          options={kinds}
          value={draft.kind}
          onChange={(event) => set({ kind: event.target.value as Source['kind'], sightingsUrl: '' })}
        />
      )}
      <TextField label={texts.name} required {...field('name')} />
      <TextField
        label={texts.address}
        hint={texts.addressHint}
        required
        placeholder="https://"
        className="font-mono text-12"
        {...field('url')}
      />
      <AccessFields draft={draft} isStored={source?.hasAuth === true} onChange={set} />
      {source ? (
        more
      ) : (
        <details>
          <summary className="w-fit cursor-default text-muted hover:text-ink">{texts.more}</summary>
          <div className="pt-3">{more}</div>
        </details>
      )}
      <FormError error={error} shown={shown} />
      <RestoredDraft draft={kept} />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" type="submit" disabled={isPending}>
          {source ? texts.save : texts.create}
        </Button>
        <Button disabled={test.isPending || draft.url.trim() === ''} onClick={() => test.mutate()}>
          {test.isPending ? texts.testing : texts.test}
        </Button>
      </div>
      <TestResult test={test.data} error={test.error} />
    </form>
  );
}

type AccessProps = { draft: SourceDraft; isStored: boolean; onChange: (change: Partial<SourceDraft>) => void };

const userLabels = { basic: texts.user, header: texts.header };
const secretLabels = { basic: texts.password, header: texts.value, bearer: texts.token };

/** How the service signs in to a source. A stored credential is never shown; it can be kept, replaced or removed. */
function AccessFields({ draft: { access, user, secret }, isStored, onChange }: AccessProps) {
  const choices = (Object.keys(texts.accesses) as Access[]).filter((value) => value !== 'keep' || isStored);
  const hasUser = access === 'basic' || access === 'header';
  return (
    <div className="grid gap-3 md:grid-cols-2 md:[&>:only-child]:col-span-2">
      <SelectField
        label={texts.access}
        options={choices.map((value) => ({ value, label: texts.accesses[value] }))}
        value={access}
        onChange={(event) => onChange({ access: event.target.value as Access, user: '', secret: '' })}
      />
      {hasUser && (
        <TextField
          label={userLabels[access]}
          required
          value={user}
          onChange={(event) => onChange({ user: event.target.value })}
        />
      )}
      {access !== 'keep' && access !== 'none' && (
        <TextField
          label={secretLabels[access]}
          type="password"
          autoComplete="new-password"
          required
          value={secret}
          onChange={(event) => onChange({ secret: event.target.value })}
        />
      )}
    </div>
  );
}
