import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  createDestination,
  destinationKindsQuery,
  eventTypesQuery,
  type EventType,
  type NewDestination,
} from '../../../api/destinations.ts';
import { valueListsQuery } from '../../../api/detection-parts.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/overlays/dialog.tsx';
import { readFields, splitList, toValues } from '../kind-fields.ts';
import { KindInputs } from '../kind-inputs.tsx';
import { CheckField, findFieldError, FormError, SelectField, TextField } from '../../../ui/forms/field.tsx';

const texts = all.destinations;
const severities = ['low', 'medium', 'high', 'critical'] as const;

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

/** Returns the filters of the form as the API expects them. */
function toFilters({ tags, list, from, to }: Record<'tags' | 'list' | 'from' | 'to', string>) {
  const used = splitList(tags);
  return {
    tags: used.length > 0 ? used : null,
    entityLists: list === '' ? null : [list],
    hours: from === '' || to === '' ? null : { timeZone, from, to },
  };
}

type Props = { onClose: () => void; onCreated: (created: Awaited<ReturnType<typeof createDestination>>) => void };

export default function DestinationForm({ onClose, onCreated }: Props) {
  const [kind, setKind] = useState<NewDestination['kind']>('webhook');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [minSeverity, setMinSeverity] = useState('');
  const [filters, setFilters] = useState({ tags: '', list: '', from: '', to: '' });
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [chosen, setEvents] = useState<readonly EventType[] | undefined>();
  const { mutate, error, isPending } = useMutation({ mutationFn: createDestination, onSuccess: onCreated });
  const { data: kinds = [] } = useQuery(destinationKindsQuery);
  const { data: lists = [] } = useQuery(valueListsQuery);
  const { data: eventTypes = [] } = useQuery(eventTypesQuery);
  const definition = kinds.find((one) => one.kind === kind);
  const events = chosen ?? definition?.defaultEvents ?? [];
  const settings = readFields(definition?.settings ?? {});
  const credentials = readFields(definition?.credentials ?? {});
  const inputs = {
    values,
    error,
    onChange: (field: string, value: string) => setValues({ ...values, [field]: value }),
  };
  const toggle = (type: EventType): void =>
    setEvents(events.includes(type) ? events.filter((one) => one !== type) : [...events, type]);
  return (
    <Dialog title={texts.addTitle} isWide onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate({
            kind,
            name: name.trim(),
            ...(url.trim() !== '' && { url: url.trim() }),
            settings: toValues(settings, values),
            credentials: toValues(credentials, values),
            eventTypes: [...events],
            minSeverity: severities.find((severity) => severity === minSeverity) ?? null,
            ...toFilters(filters),
            detectionIds: null,
            enabled: true,
          });
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <SelectField
            label={texts.kind}
            value={kind}
            options={kinds.map((one) => ({ value: one.kind, label: one.label }))}
            onChange={(event) => setKind(event.target.value as NewDestination['kind'])}
          />
          <TextField
            label={texts.name}
            error={findFieldError(error, '/name')}
            value={name}
            required
            autoFocus
            maxLength={255}
            onChange={(event) => setName(event.target.value)}
          />
          <TextField
            label={texts.url}
            hint={definition?.urlHint}
            error={findFieldError(error, '/url')}
            value={url}
            required={!definition?.defaultUrl}
            type="url"
            placeholder={definition?.defaultUrl ?? 'https://'}
            onChange={(event) => setUrl(event.target.value)}
          />
          <KindInputs fields={settings} pointer="/settings" {...inputs} />
          <KindInputs fields={credentials} pointer="/credentials" isSecret {...inputs} />
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
            onChange={(event) => setMinSeverity(event.target.value)}
          />
          <SelectField
            label={texts.entityList}
            value={filters.list}
            options={[
              { value: '', label: texts.anyEntity },
              ...lists.map((one) => ({ value: one.name, label: one.name })),
            ]}
            onChange={(event) => setFilters({ ...filters, list: event.target.value })}
          />
          <TextField
            label={texts.tags}
            hint={texts.tagsHint}
            error={findFieldError(error, '/tags')}
            value={filters.tags}
            onChange={(event) => setFilters({ ...filters, tags: event.target.value })}
          />
          <div className="grid grid-cols-2 gap-4">
            {(['from', 'to'] as const).map((name) => (
              <TextField
                key={name}
                label={name === 'from' ? texts.hoursFrom : texts.hoursTo}
                hint={name === 'from' ? texts.hoursHint(timeZone) : undefined}
                value={filters[name]}
                type="time"
                onChange={(event) => setFilters({ ...filters, [name]: event.target.value })}
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
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" disabled={isPending || events.length === 0}>
            {texts.create}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
