import { texts as editor } from '../../../texts/editor.ts';
import { Field, SelectInput, TextInput } from '../../../ui/forms/form.tsx';
import type { Tuning } from './tuning.ts';
import { ownTimeZone } from '../../../lib/time.ts';

const texts = editor.tuning.hours;
type Hours = NonNullable<Tuning['workingHours']>;
type Day = NonNullable<Hours['days']>[number];

const days = Object.entries(texts.days) as [Day, string][];
const workdays: Day[] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const usual = (): Hours => ({
  timeZone: ownTimeZone,
  from: '08:00',
  to: '18:00',
});

type Props = {
  hours: Hours | undefined;
  problemOf: (field: string) => string | undefined;
  onChange: (hours: Hours | undefined) => void;
};

/** When people work, and what that means for candidates. */
export function WorkingHours({ hours, problemOf, onChange }: Props) {
  return (
    <fieldset className="flex flex-col gap-2">
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          className="accent-accent"
          checked={hours !== undefined}
          onChange={({ target }) => onChange(target.checked ? usual() : undefined)}
        />
        {texts.title}
      </label>
      {hours && (
        <>
          <div className="grid gap-4 md:grid-cols-4">
            {(['from', 'to'] as const).map((name) => (
              <Field key={name} label={texts[name]} error={problemOf(name)}>
                {(control) => (
                  <TextInput
                    {...control}
                    type="time"
                    value={hours[name]}
                    onChange={({ target }) => onChange({ ...hours, [name]: target.value })}
                  />
                )}
              </Field>
            ))}
            <Field label={texts.timeZone} error={problemOf('timeZone')}>
              {(control) => (
                <TextInput
                  {...control}
                  value={hours.timeZone}
                  onChange={({ target }) => onChange({ ...hours, timeZone: target.value })}
                />
              )}
            </Field>
            <Field label={texts.effect} error={problemOf('effect')}>
              {(control) => (
                <SelectInput
                  {...control}
                  value={hours.effect ?? 'raise'}
                  onChange={({ target }) => onChange({ ...hours, effect: target.value as Hours['effect'] })}
                >
                  {Object.entries(texts.effects).map(([value, label]) => (
                    <option key={value} value={value}>
                      {label}
                    </option>
                  ))}
                </SelectInput>
              )}
            </Field>
          </div>
          <div className="flex flex-wrap gap-x-4 gap-y-1">
            {days.map(([day, label]) => {
              const chosen = hours.days ?? workdays;
              return (
                <label key={day} className="flex items-center gap-1.5">
                  <input
                    type="checkbox"
                    className="accent-accent"
                    checked={chosen.includes(day)}
                    onChange={({ target }) =>
                      onChange({
                        ...hours,
                        days: days
                          .map(([one]) => one)
                          .filter((one) => (one === day ? target.checked : chosen.includes(one))),
                      })
                    }
                  />
                  {label}
                </label>
              );
            })}
          </div>
        </>
      )}
    </fieldset>
  );
}
