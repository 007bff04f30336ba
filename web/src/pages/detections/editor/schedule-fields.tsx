import { lazy, Suspense } from 'react';
import { texts } from '../../../texts/editor.ts';
import { Field, SelectInput, TextInput } from '../../../ui/forms/form.tsx';
import { Section } from '../../../ui/section.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import type { Cadence, FormProps } from './draft.ts';

const NextRuns = lazy(() => import('./next-runs.tsx'));
const cadences = Object.entries(texts.cadence) as [Cadence, string][];
const crons: Record<Exclude<Cadence, '' | 'custom'>, string> = {
  hourly: '0 * * * *',
  daily: '0 0 * * *',
  weekly: '0 0 * * 1',
};

/** When the detection runs, in words and with its next runs. */
export function ScheduleFields({ draft, isAgent, onChange, problemOf }: FormProps) {
  const { cadence, customCronSchedule, cronTimezone, continuous } = draft;
  const cron = cadence === 'custom' ? customCronSchedule : cadence === '' ? '' : crons[cadence];
  return (
    <Section isForm level={2} title={texts.sections.when}>
      <div className="grid gap-4 md:grid-cols-3">
        <Field label={texts.fields.schedule} error={problemOf('detectionCadence')}>
          {(control) => (
            <SelectInput
              {...control}
              value={cadence}
              onChange={(event) => onChange({ cadence: event.target.value as Cadence })}
            >
              {cadences.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </SelectInput>
          )}
        </Field>
        {cadence === 'custom' && (
          <Field label={texts.fields.customCronSchedule} error={problemOf('customCronSchedule')}>
            {(control) => (
              <TextInput
                {...control}
                className="font-mono text-12"
                placeholder="15 8 * * 1-5"
                value={customCronSchedule}
                onChange={(event) => onChange({ customCronSchedule: event.target.value })}
              />
            )}
          </Field>
        )}
        {cadence !== '' && (
          <Field label={texts.fields.cronTimezone} hint={texts.hints.cronTimezone} error={problemOf('cronTimezone')}>
            {(control) => (
              <TextInput
                {...control}
                placeholder="Europe/Oslo"
                value={cronTimezone}
                onChange={(event) => onChange({ cronTimezone: event.target.value })}
              />
            )}
          </Field>
        )}
      </div>
      {!isAgent && (
        <div className="flex flex-col gap-1">
          <label className="flex items-center gap-2">
            <input
              type="checkbox"
              checked={continuous}
              onChange={(event) => onChange({ continuous: event.target.checked })}
            />
            {texts.fields.continuous}
          </label>
          <p className="text-12 text-muted">{problemOf('continuous') ?? texts.hints.continuous}</p>
        </div>
      )}
      {cron.trim() !== '' && (
        <Suspense fallback={<Skeleton className="h-6" />}>
          <NextRuns cron={cron} timezone={cronTimezone} />
        </Suspense>
      )}
    </Section>
  );
}
