import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';

export type UsageDay = Schemas['UsageDay'];
export type QuotaName = Schemas['QuotaState']['quota'];
export type Quotas = Schemas['OrganizationQuotas'];

/** The limits that the operator of the service has set for the organization, and how much of each is used. */
export const quotasQuery = queryOptions({
  queryKey: ['quotas'],
  queryFn: () => read(api.GET('/api/quotas')),
  refetchInterval: 60_000,
});

/** Reads the usage of the organization on each of the last 30 days. */
export const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: () => read(api.GET('/api/usage')),
  refetchInterval: 60_000,
});
