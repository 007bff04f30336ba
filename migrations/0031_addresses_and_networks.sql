-- Addresses and networks inside of a network are a range. The writer sets the column, because not every text of their form is an address.
alter table item_terms add column address inet;
comment on column item_terms.address is 'Address or network of an indicator. Null for all other values.';
create index item_terms_addresses on item_terms (pool_id, address) where address is not null;
