import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  changeDestination,
  createDestination,
  destinationKindsQuery,
  eventTypesQuery,
  type EventType,
  type Destination,
  type NewDestination,
} from '../../../api/destinations.ts';
import { valueListsQuery } from '../../../api/detection-parts.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/overlays/dialog.tsx';
import { readFields, splitList, toTexts, toValues } from '../kind-fields.ts';
import { useTimeZone } from '../../../lib/time.ts';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';
import { KindInputs } from '../kind-inputs.tsx';
import { CheckField, findFieldError, FormError, SelectField, TextField } from '../../../ui/forms/field.tsx';

const texts = all.destinations;
const severities = ['low', 'medium', 'high', 'critical'] as const;

const timesOf = ['from', 'to'] as const;
/** The lists of a filter as the value of an option. */
const toOption = (lists: readonly string[] | null): string => (lists === null ? '' : JSON.stringify(lists));

/** What the form begins with. Credentials are not known, nor is an address that is one. */
const toFields = (one: Destination | undefined) => ({
  kind: one?.kind ?? ('webhook' as NewDestination['kind']),
  name: one?.name ?? '',
  url: '',
  minSeverity: one?.minSeverity ?? '',
  tags: one?.tags?.join(', ') ?? '',
  lists: toOption(one?.entityLists ?? null),
  from: one?.hours?.from ?? '',
  to: one?.hours?.to ?? '',
  settings: toTexts(one?.settings ?? {}),
  credentials: {} as Readonly<Record<string, string>>,
  chosen: one?.eventTypes as readonly EventType[] | undefined,
});

type Props = {
  /** The destination that is changed. Without it, the form creates one. */
  destination?: Destination;
  onClose: () => void;
  /** `secret` is that of a new webhook. */
  onSaved: (saved: { id: string; secret?: string | null }) => void;
};

/** Creates a destination, or changes everything about one but its kind. Load it with `lazy`. */
export default function DestinationForm({ destination, onClose, onSaved }: Props) {
  // An address may contain a secret.
  const [fields, change, draft] = useDraft(`destination ${destination?.id ?? ''}`, toFields(destination), [
    'url',
    'credentials',
  ]);
  const { kind, name, url, minSeverity, tags, from, to, chosen } = fields;
  const ownTimeZone = useTimeZone();
  const timeZone = destination?.hours?.timeZone ?? ownTimeZone;
  const [seen] = useState(destination);
  const save = async (): Promise<{ id: string; secret?: string | null }> => {
    const used = splitList(tags);
    const secrets = toValues(credentials, fields.credentials);
    const kept = Object.fromEntries(
      Object.entries(seen?.settings ?? {}).filter(([setting]) => settings.every((field) => field.name !== setting)),
    );
    const body = {
      name: name.trim(),
      ...(url.trim() !== '' && { url: url.trim() }),
      // What the form has no field for stays.
      settings: { ...kept, ...toValues(settings, fields.settings) },
      eventTypes: [...events],
      minSeverity: severities.find((severity) => severity === minSeverity) ?? null,
      tags: used.length > 0 ? used : null,
      entityLists: fields.lists === '' ? null : (JSON.parse(fields.lists) as string[]),
      hours: from === '' || to === '' ? null : { ...seen?.hours, timeZone, from, to },
    };
    if (seen)
      return changeDestination(seen, { ...body, ...(Object.keys(secrets).length > 0 && { credentials: secrets }) });
    return createDestination({ ...body, kind, credentials: secrets, detectionIds: null, enabled: true });
  };
  const { mutate, error, isPending } = useMutation({
    mutationFn: save,
    onSuccess: (saved) => {
      draft.reset();
      onSaved(saved);
    },
  });
  const { data: kinds = [] } = useQuery(destinationKindsQuery);
  const { data: lists = [] } = useQuery(valueListsQuery);
  const { data: eventTypes = [] } = useQuery(eventTypesQuery);
  const definition = kinds.find((one) => one.kind === kind);
  const events = chosen ?? definition?.defaultEvents ?? [];
  const settings = readFields(definition?.settings ?? {});
  const credentials = readFields(definition?.credentials ?? {});
  const inputsOf = (part: 'settings' | 'credentials') => ({
    values: fields[part],
    error,
    onChange: (field: string, value: string) => change((old) => ({ [part]: { ...old[part], [field]: value } })),
  });
  const toggle = (type: EventType): void =>
    change({ chosen: events.includes(type) ? events.filter((one) => one !== type) : [...events, type] });
  const listOptions = [
    ...new Set([
      '',
      fields.lists,
      toOption(destination?.entityLists ?? null),
      ...lists.map((one) => toOption([one.name])),
    ]),
  ].map((value) => ({ value, label: value === '' ? texts.anyEntity : (JSON.parse(value) as string[]).join(', ') }));
  return (
    <Dialog title={destination ? texts.editTitle(destination.name) : texts.addTitle} isWide onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <SelectField
            label={texts.kind}
            value={kind}
            disabled={destination !== undefined}
            options={kinds.map((one) => ({ value: one.kind, label: one.label }))}
            onChange={(event) => change({ kind: event.target.value as NewDestination['kind'], chosen: undefined })}
          />
          <TextField
            label={texts.name}
            error={findFieldError(error, '/name')}
            value={name}
            required
            autoFocus
            onChange={(event) => change({ name: event.target.value })}
          />
          <TextField
            label={texts.url}
            hint={destination ? texts.urlKept : definition?.urlHint}
            error={findFieldError(error, '/url')}
            value={url}
            required={!destination && !definition?.defaultUrl}
            type="url"
            placeholder={destination?.url ?? definition?.defaultUrl ?? 'https://'}
            onChange={(event) => change({ url: event.target.value })}
          />
          <KindInputs fields={settings} pointer="/settings" {...inputsOf('settings')} />
          <KindInputs
            fields={credentials}
            pointer="/credentials"
            isSecret
            isKept={destination !== undefined}
            {...inputsOf('credentials')}
          />
          <SelectField
            label={texts.minSeverity}
            value={minSeverity}
            options={[
              { value: '', label: texts.anySeverity },
              ...severities.map((value) => ({
                value,
                label: texts.from(value.charAt(0).toUpperCase() + value.slice(1)),
              })),
            ]}
            onChange={(event) => change({ minSeverity: event.target.value as typeof minSeverity })}
          />
          <SelectField
            label={texts.entityList}
            value={fields.lists}
            options={listOptions}
            onChange={(event) => change({ lists: event.target.value })}
          />
          <TextField
            label={texts.tags}
            hint={texts.tagsHint}
            error={findFieldError(error, '/tags')}
            value={tags}
            onChange={(event) => change({ tags: event.target.value })}
          />
          <div className="grid grid-cols-2 gap-4">
            {timesOf.map((name) => (
              <TextField
                key={name}
                label={name === 'from' ? texts.hoursFrom : texts.hoursTo}
                hint={name === 'from' ? texts.hoursHint(timeZone) : undefined}
                value={fields[name]}
                type="time"
                onChange={(event) => change({ [name]: event.target.value })}
              />
            ))}
          </div>
        </div>
        <div className="grid gap-x-6 gap-y-4 md:grid-cols-3">
          {Object.entries(Object.groupBy(eventTypes, ({ subject }) => subject)).map(([subject, types = []]) => (
            <fieldset key={subject} className="flex flex-col gap-1.5">
              <legend className="pb-1.5 text-12 text-faint">{subject}</legend>
              {types.map(({ type, label }) => (
                <CheckField key={type} label={label} checked={events.includes(type)} onChange={() => toggle(type)} />
              ))}
            </fieldset>
          ))}
        </div>
        <FormError
          error={error}
          shown={[
            '/name',
            '/url',
            ...settings.map((field) => `/settings/${field.name}`),
            ...credentials.map((field) => `/credentials/${field.name}`),
          ]}
        />
        <RestoredDraft draft={draft} />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" disabled={isPending || events.length === 0}>
            {destination ? common.save : texts.create}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
