import { useQuery } from '@tanstack/react-query';
import { quotasQuery, usageQuery } from '../../../api/usage.ts';
import { texts as all } from '../../../texts/settings.ts';
import { texts } from '../../../texts/usage.ts';
import { Section } from '../../../ui/section.tsx';
import { Loaded } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { LimitTable } from './limit-table.tsx';
import { UsageDays, UsageToday } from './usage-days.tsx';

/** Shows the usage of the organization and its limits. */
export function UsageSection() {
  const quotas = useQuery(quotasQuery);
  const usage = useQuery(usageQuery);
  return (
    <SettingsSection title={all.sections.usage} description={texts.description}>
      <div className="flex flex-col gap-8 pt-2">
        <Section level={3} title={texts.limits}>
          <Loaded query={quotas}>{(data) => <LimitTable quotas={data} />}</Loaded>
        </Section>
        <Loaded query={usage}>
          {({ days }) => (
            <>
              <UsageToday days={days} />
              <UsageDays days={days} />
            </>
          )}
        </Loaded>
      </div>
    </SettingsSection>
  );
}
