import { platformNames, platformName } from '../../../texts/platforms.ts';
import { texts } from '../../../texts/relevance.ts';
import { CheckField } from '../../../ui/forms/field.tsx';

type Props = { chosen: readonly string[]; onChange: (platforms: string[]) => void };

/** One box for each platform. */
export function PlatformChecks({ chosen, onChange }: Props) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1.5 text-12 text-muted">{texts.platforms}</legend>
      <div className="grid grid-cols-2 gap-x-4 gap-y-1.5 md:grid-cols-3">
        {platformNames.map((name) => (
          <CheckField
            key={name}
            label={platformName(name)}
            checked={chosen.includes(name)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
